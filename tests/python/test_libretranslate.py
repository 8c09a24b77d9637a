"""Tests attn-demo serve with a client of LibreTranslate: libretranslatepy from PyPI."""

import os
import subprocess

import pytest
from conftest import SENTENCE
from libretranslatepy import LibreTranslateAPI


@pytest.fixture(scope="module")
def client():
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    server = subprocess.Popen([os.environ["ATTN_DEMO_PROGRAM"], "serve", "--port", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=own)
    try:
        yield LibreTranslateAPI(server.stdout.readline().strip())
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def test_it_translates(client, program):
    assert client.translate(SENTENCE, "en", "de") + "\n" == program("translate", "--show", "none", SENTENCE)[1]
    assert client.translate(SENTENCE, "auto", "de") == client.translate(SENTENCE, "en", "de")


def test_special_characters_arrive(client, program):
    text = "The price is 5 % & more = “old” café?"
    assert client.translate(text, "en", "de") + "\n" == program("translate", "--show", "none", text)[1]


def test_it_lists_the_languages(client):
    assert client.languages() == [{"code": "en", "name": "English", "targets": ["de"]},
                                  {"code": "de", "name": "German", "targets": ["en"]}]
