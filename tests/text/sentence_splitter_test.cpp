// Tests where a text is split into sentences: each case is a text with | at the splits.
#include "text/sentence_splitter.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

using namespace attn;

namespace {

/// Returns the text with marks at its splits; "‖" where the next sentence begins inside a pair of
/// quotes or brackets.
std::string cut(const std::string& text) {
  std::string out;
  std::size_t last = 0;
  for (const SentenceSpan& sentence : split_sentences(text)) {
    if (!out.empty()) out += sentence.inside_brackets ? "‖" : "|";
    if (!out.empty()) out += text.substr(last, sentence.begin - last);
    out += text.substr(sentence.begin, sentence.end - sentence.begin);
    last = sentence.end;
  }
  return out;
}

/// Checks that `marked` without its marks is split at the marks.
void check(const std::string& marked) {
  std::string text = marked;
  for (const std::string mark : {"|", "‖"}) {
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark)) {
      text.erase(at, mark.size());
    }
  }
  CHECK(cut(text) == marked);
}

}  // namespace

TEST_CASE("sentences end at full stops, questions and exclamations") {
  check("I came.| He left.");
  check("Who is it?| It is me!| Come in.| Sit down");
  check("What?!| No!!!| Really.");
  check("I live in Munich.| My name is Wolfgang.| The train from Dresden is late");
  check("Yes.| No.| OK.| I will go.");
  check("It was 1999.| Tom left.");
  check("Wo ist der Bahnhof?| Ich muss gehen.| Österreich ist schön.");
  check("Hello .| How are you ?| I am fine .");
  check("I AM HERE.| YOU ARE THERE.");
  check("彼は来た。|彼女は行った。|そう？|はい。");
}

TEST_CASE("a single sentence stays whole, with and without final mark") {
  check("The group went home");
  check("The group went home.");
  check("I left; he stayed: nobody came, and so on - that is all.");
  CHECK(cut("  The group went home.  ") == "The group went home.");
  CHECK(cut("").empty());
  CHECK(cut("   ").empty());
  CHECK(cut("...") == "...");
  CHECK(cut("\"") == "\"");
}

TEST_CASE("blanks between sentences belong to none") {
  const std::string text = "  One.   Two.\u00a0Three. ";
  const std::vector<SentenceSpan> found = split_sentences(text);
  REQUIRE(found.size() == 3);
  CHECK(text.substr(found[0].begin, found[0].end - found[0].begin) == "One.");
  CHECK(text.substr(found[0].end, found[1].begin - found[0].end) == "   ");
  CHECK(text.substr(found[1].end, found[2].begin - found[1].end) == "\u00a0");
  CHECK(text.substr(found[2].begin, found[2].end - found[2].begin) == "Three.");
}

TEST_CASE("titles and abbreviations do not end a sentence") {
  check("Dr. Smith met Mr. Jones and Mrs. Brown.| They talked.");
  check("Prof. Miller and Gen. Lee came.| Nobody else did.");
  check("I like fruit, e.g. Apples and pears.| I eat it daily.");
  check("Some animals, i.e. Dogs, bark.");
  check("It is Germany vs. France today.| I will watch.");
  check("Frau Dr. Weber und Hr. Maier kommen.| Wir warten.");
  check("Viele Tiere, z. B. Hunde, bellen.| Katzen nicht.");
  check("Viele Tiere, z.B. Hunde, bellen, d.h. Sie sind laut.| Katzen nicht.");
  check("Das kostet ca. 20 Euro.| Das ist viel.");
  check("Er heißt Dipl.-Ing. Huber.| Er baut Häuser.");
}

TEST_CASE("what numbers have before them does not end a sentence") {
  check("I live at No. 5 now.| Come and see me.");
  check("No.| I do not.");
  check("See Fig. 3 and p. 12.| Then go on.");
  check("Siehe Nr. 7 auf S. 12.| Danach geht es weiter.");
  check("This costs 3.50 euros.| That costs 2.5 euros.");
  check("It is 8.30 now.| The train is late.");
}

TEST_CASE("what can also end a sentence ends it before a word that begins sentences") {
  check("The U.S. Army is big.| Nobody doubts it.");
  check("He lives in the U.S.| She lives in Spain.");
  check("We met at 5 p.m. Tuesday.| It rained.");
  check("We met at 5 p.m.| It rained.");
  check("He has a Ph.D.| Nobody knew.");
  check("His Ph.D. Thesis is long.");
  check("Bring bread, milk, etc.| The shop is open.");
  check("Bring bread, milk, etc. Tom will pay.");
  check("He works for Apple Inc. in California.| He likes it.");
  check("He works for Apple Inc.| He likes it.");
  check("Martin Luther King Jr. Day is a holiday.");
  check("He was born on Jan. 5 in St. Louis.| He died there.");
  check("I sat in the sun.| Tom slept.");
  check("Brot, Milch usw.| Das ist alles.");
}

TEST_CASE("abbreviations by their kind: before a number, before a name, at the end") {
  check("See Sect. 2.1 for details.| It is short.");
  check("Read Chap. IV tonight.| It is long.");
  check("Read Chap. I tonight.");
  check("See Fig. A1 and Fig. B.| They differ.");
  check("It costs 20 euros incl. VAT and excl. Shipping.");
  check("I live in Ft. Worth, Texas.| It is hot.");
  check("Call ext. 12 or see para. 5.| Then wait.");
  check("See ref. 5 and 2nd ed. Oxford: Smith.");
  check("See op. cit. Smith, p. 5.");
  check("Adm. Nelson won.| He died.");
  check("Frau Dr. med. Meier kommt.| Sie ist Ärztin.");
  check("Er starb 50 v. Chr. Geburt war er alt.");
  check("Das war 50 v. Chr.| Die Römer kamen.");
  check("Sect. 2.1, e.g. the U.S. version, i.e. No. 5.| Then stop.");
  check("Siehe Abschn. 2.1 und Beil. B.| Das gilt insb. Kunst, natürl. Teil, durchschn. 5 Euro.");
  check("Der russ. Präsident und Dir. Meier trafen Dipl.-Psych. Müller.| Dann gingen sie.");
  check("See Exh. A and Bldg. A.| Abp. Smith and Sra. Lopez agree.");
  check("Herr Dr. rer. nat. Huber und Prof. Dr. h. c. Weber.");
  check("Sie besucht eine kath. Schule und eine staatl. Hochschule.");
  check("No.| I do not.");
  check("This is modern art.| A book lies here.");
  check("It weighs 5 kg.| Tom carries it.");
  check("Das regelt § 5 Abs. 2 Satz 1 Nr. 3.| Das ist neu.");
  check("Vgl. Art. II Abs. IV GG.");
  check("Hptm. Weber kam mit Uffz. Klein.| Sie blieben.");
  check("She works at Yahoo! in the accounting department.");
  check("I never meant that....| She left the store.");
  check("We met in Bldg. Seven.");
  check("I watched TV.| Tom slept.");
  check("He bought DVDs.| Tom paid.");
  check("Hmm.| Tom knows.");
  check("You can find it at N°. 1026.253.553.| That is where the treasure is.");
  check("Er war Karl.| Tom kam.");
  check("See App. B, Vol. II, Pt. 3 and Bk. IV.| Go on.");
  check("Im 19. Jh. Deutschlands war das so.");
  check("Sie kamen im 19. Jh.| Die Zeit war hart.");
  check("Lt. Gen. Smith met Brig. Gen. Jones.| They talked.");
  check("The Rt. Hon. Tony Blair spoke.");
  check("Wir trafen Priv.-Doz. Dr. Klein.");
  check("See Fig. 3.| Tom saw it.");
  check("See Tab. A.2 there.| Go on.");
  check("See Amend. XIV and Reg. 12345 in Rom. 8:28.| Go on.");
  check("Die röm. Kaiser und die poln. Armee kamen.| Sie blieben.");
  check("Buy milk, then see Tom.| 2. Go home.");
  check("Pres. Obama and Sec. Clinton came.| Wait a sec.| They left.");
  check("Attn. Mr. Smith: Misc. Items.| Never mind.| Tom came.");
  check("Das kostet mind. 5 Euro und höchst. 9 Euro.");
}

TEST_CASE("initials do not end a sentence") {
  check("J. R. Smith wrote it.| Nobody read it.");
  check("J.R.R. Tolkien wrote it.| Everybody read it.");
  check("George W. Bush was president.| He was from Texas.");
  check("J. S. Bach wurde in Eisenach geboren.| Er starb in Leipzig.");
  check("We live in block B.| It is small.");
}

TEST_CASE("German ordinals do not end a sentence, nor do the numbers of a list") {
  check("Am 3. Oktober ist ein Feiertag.| Wir bleiben zu Hause.");
  check("Elisabeth II. Regierte lange.");
  check("Friedrich II. war König.| Er lebte in Potsdam.");
  check("I am 20.| She is 30.");
  check("1. Open the door.| 2. The light goes on.");
  check("• 9. The first item • 10. The second item");
  check("a. The first item b. The second item");
  check("1. He is 20.| She is 30.");
}

TEST_CASE("an ellipsis does not end a sentence") {
  check("Well... I do not know.| Ask Tom.");
  check("Well… I do not know.| Ask Tom.");
  check("Nun ... Tom weiß es nicht.| Frag Maria.");
}

TEST_CASE("quotations") {
  check("\"Stop!\" he said.| Nobody stopped.");
  check("“Where are you?” asked Tom.| I did not answer.");
  check("\"Stop!\"| He ran away.");
  check("He said: “I am here.”| She nodded.");
  check("He said: “I am here.‖ You are there.”| She nodded.");
  check("He said: \"I am here.‖ You are there.\"| She nodded.");
  check("Er sagte: „Ich bin hier.‖ Du bist dort.“| Sie nickte.");
  check("Er sagte: »Ich bin hier.‖ Du bist dort.«| Sie nickte.");
  check("„Komm!“, rief er.| Niemand kam.");
  check("Anna's dog barked.| Tom's cat slept.");
}

TEST_CASE("parentheses, and marks that do not pair up") {
  check("It was late (very late.‖ Too late).| We left.");
  check("It was late (very late).| We left.");
  check("We left.| (It was late.)| Nobody saw us.");
  check("The screen is 5\" wide.| It is small.");
  check(":-( I am sad.| You are not.");
}

TEST_CASE("nothing is cut inside a word") {
  check("See www.example.com/page?id=5 for more.| It is free.");
  check("I came.He left.");
  check("Yahoo!News is old.| Nobody reads it.");
  check("It is version 2.0.1 of the U.S.A team.");
}

TEST_CASE("a text without capitals is cut, too") {
  check("i live in munich.| my name is wolfgang.| who are you?");
  check("mr. smith lives here.| he is old.");
  check("fruit, e.g. apples, is good.| i eat it.");
  // If the text has a capital letter, a lower-case letter continues the sentence.
  check("Fruit, esp. apples, is good.| I eat it.");
}

TEST_CASE("hostile text: every sentence lies inside, in order, and nothing but blanks between") {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += i % 7 == 0 ? "(A. " : "b! ";
  for (const std::string& text :
       {many, std::string(10'000, '.'), std::string(10'000, '"'), std::string(9'999, '('),
        std::string("\u2028\u2029\u0085 . \ufffd! \U0001F600. A\u0301. B")}) {
    std::size_t last = 0;
    for (const SentenceSpan& sentence : split_sentences(text)) {
      REQUIRE(sentence.begin >= last);
      REQUIRE(sentence.end > sentence.begin);
      REQUIRE(sentence.end <= text.size());
      REQUIRE(text.substr(last, sentence.begin - last).find_first_not_of(" \u2028\u2029\u0085") ==
              std::string::npos);
      last = sentence.end;
    }
  }
}

TEST_CASE("every paragraph of recipes/en-de/typed is cut where its sentences end") {
  std::ifstream file(std::string(ATTN_SOURCE_DIR) + "/recipes/en-de/typed/paragraphs.txt");
  std::size_t paragraphs = 0, sentences = 0, marked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    ++paragraphs;
    for (const SentenceSpan& sentence : split_sentences(line)) {
      // Every sentence there has an end mark.
      const std::string text = line.substr(sentence.begin, sentence.end - sentence.begin);
      if (text.find('[') != std::string::npos) ++marked;
      ++sentences;
    }
  }
  CHECK(paragraphs == 100);
  CHECK(sentences == 301);
  CHECK(marked == sentences);
}
