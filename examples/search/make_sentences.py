#!/usr/bin/env python3
"""Writes distinct English sentences, one per line: make_sentences.py FILE [COUNT]

The sentences are built from word lists by a generator with a fixed seed, so that every machine gets the same file.
Needs no package.
"""
import random
import sys

NOUNS = ("sailor baker engineer nurse farmer violinist teacher astronomer carpenter plumber librarian surgeon gardener "
         "pilot dentist judge fisherman painter electrician biologist goalkeeper tourist mayor chemist butcher").split()
ADJECTIVES = ("old young patient tired famous curious careful unlucky cheerful retired impatient talented stubborn "
              "absent-minded self-taught").split()
ACTIONS = [
    ("repaired", "the engine of a fishing boat|a leaking roof|an antique clock|the brakes of a bicycle|a broken telescope"),
    ("cooked", "a soup of lentils and carrots|crème brûlée for twelve guests|rice with saffron|an omelette|a pot of chili"),
    ("studied", "the orbits of small planets|the history of Portugal|bacteria in drinking water|Gödel's theorems|bird songs"),
    ("sold", "4,000 shares of a railway company|a house near the river|tickets for the opera|an old piano|three goats"),
    ("described", "the symptoms of a rare disease|a storm over the Atlantic|the rules of chess|a new kind of battery"),
    ("watched", "a solar eclipse|the final of the world cup|snow falling on the rooftops|a film about whales|two foxes"),
    ("programmed", "a robot that sorts letters|a thermostat|a game for 2 players|the traffic lights of a whole city"),
    ("planted", "tomatoes and basil|an apple tree|a hedge of roses|pumpkins (for the autumn fair)|wheat"),
    ("lost", "the keys of the laboratory|an umbrella|a case in court|the way in the fog|a suitcase full of sheet music"),
    ("measured", "the depth of the harbour|the pulse of a patient|the temperature of molten glass|rainfall"),
    ("wrote", "a letter to the tax office|a novel about a lighthouse|12 sonnets|a compiler in 30 days|an obituary"),
    ("bought", "a ticket to São Paulo|fresh bread|a second-hand microscope|insurance against hail|a pair of hiking boots"),
]
PLACES = ("in the harbour of Lisbon|at a café in Zürich|behind the town hall|on the night train to Vienna|in a small "
          "workshop|at the edge of the forest|under the railway bridge|in the university library|near the airport|on an "
          "island|in the kitchen of a hotel|at 1,200 metres above the sea|beside the frozen lake").split("|")
TIMES = ("last winter|on Monday morning|after the long strike|before sunrise|during the heat wave|in 1987|on her "
         "birthday|every second Sunday|while it rained|without any help|within 45 minutes|for the first time").split("|")
ENDS = ("but nobody noticed|and the newspapers reported it|although the doctor had advised against it|because the "
        "neighbours had asked for it|which cost $350 more than expected|so that the children could sleep|and then went "
        "home|while the others played cards|as if it were the easiest thing in the world|and didn't regret it").split("|")


def sentences(count):
    generator = random.Random(20)
    # random() gives the same numbers in all versions of Python; choice() and others may not.
    pick = lambda values: values[int(generator.random() * len(values))]
    seen = set()
    while len(seen) < count:
        clauses = []
        while not clauses or generator.random() < 0.2:
            verb, objects = pick(ACTIONS)
            words = [pick(["the", "a", "our", "their"]), pick(ADJECTIVES), pick(NOUNS), verb, pick(objects.split("|"))]
            if words[0] == "a" and words[1][0] in "aeiou":
                words[0] = "an"
            if generator.random() < 0.3:
                del words[1]
                words[0] = "the"
            if generator.random() < 0.6:
                words.append(pick(PLACES))
            if generator.random() < 0.5:
                words.append(pick(TIMES))
            clauses.append(" ".join(words))
        text = pick(["; ", ", and "]).join(clauses)
        if generator.random() < 0.3:
            text += ", " + pick(ENDS)
        text = text[0].upper() + text[1:] + pick([".", ".", ".", "!", "?"])
        if text not in seen:
            seen.add(text)
            yield text


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences(int(sys.argv[2]) if len(sys.argv) == 3 else 10000):
            file.write(sentence + "\n")
