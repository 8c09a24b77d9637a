// Makes data/demo/tokenizer from the corpus beside this file (README.md says how to build it).
//
//   make_tokenizer SOURCE TARGET DIRECTORY [word|bpe|unigram] [VOCAB_SIZE] [joint|separate]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "text/tokenizer_trainer.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: make_tokenizer SOURCE TARGET DIRECTORY [TYPE] [VOCAB_SIZE] [joint]\n",
               stderr);
    return 2;
  }
  const std::string type = argc > 4 ? argv[4] : "word";
  attn::TokenizerTraining training;
  training.type = type == "word"  ? attn::TokenizerType::word
                  : type == "bpe" ? attn::TokenizerType::bpe
                                  : attn::TokenizerType::unigram;
  training.vocab_size = argc > 5 ? std::atoi(argv[5]) : 1000;
  training.joint = argc <= 6 || std::string(argv[6]) == "joint";
  try {
    training.source_lines = attn::read_lines(argv[1]);
    training.target_lines = attn::read_lines(argv[2]);
    attn::train_tokenizer(training, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_tokenizer: %s\n", error.what());
    return 1;
  }
  return 0;
}
