// Compiles regular expressions to finite automata.
//
// A recursive-descent parser converts a pattern to a nondeterministic automaton
// on bytes. The subset construction makes the automaton deterministic. A
// non-ASCII character is represented by the sequence of its UTF-8 bytes.

#include "compiler/import/operators/Pattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <bitset>
#include <map>

using llvm::StringRef;

namespace ingot::graph {
namespace {

constexpr size_t mostNodes = 1 << 14, mostStates = 1 << 12;
constexpr int mostRepeats = 1000, mostDepth = 200;

using Bytes = std::bitset<256>;

/// A nondeterministic automaton whose transitions consume a byte (`moves`) or
/// no input.
struct Machine {
  struct Node {
    std::vector<std::pair<Bytes, int>> moves;
    /// The nodes that transitions without input lead to: `jumps` at any
    /// position, `atStart` only at the start of the string, `atEnd` only at its
    /// end.
    std::vector<int> jumps, atStart, atEnd;
    /// The nodes that transitions without input lead to: `atEdge` at word
    /// boundaries (\b), `inside` at all other positions (\B).
    std::vector<int> atEdge, inside;
  };
  std::vector<Node> nodes;

  int add() {
    nodes.emplace_back();
    return static_cast<int>(nodes.size()) - 1;
  }
};

/// A sub-automaton with one entry and one exit node.
struct Part {
  int first, last;
};

class Parser {
public:
  Parser(StringRef pattern, Machine &machine, std::string &error,
         bool dotIsNewline)
      : rest(pattern), machine(machine), error(error),
        dotIsNewline(dotIsNewline) {}

  std::optional<Part> parse() {
    auto all = alternatives();
    if (all && !rest.empty())
      return fail("a `)` without its `(`");
    return all;
  }

private:
  std::optional<Part> fail(const std::string &why) {
    if (error.empty())
      error = why;
    return std::nullopt;
  }

  int node() {
    if (machine.nodes.size() >= mostNodes)
      fail("a pattern with more than " + std::to_string(mostNodes) + " steps");
    return machine.add();
  }
  void jump(int from, int to) { machine.nodes[from].jumps.push_back(to); }

  Part ofBytes(const Bytes &bytes) {
    Part part{node(), node()};
    machine.nodes[part.first].moves.push_back({bytes, part.last});
    return part;
  }
  Part nothing() {
    int only = node();
    return {only, only};
  }
  Part join(Part a, Part b) {
    jump(a.last, b.first);
    return {a.first, b.last};
  }

  std::optional<Part> alternatives() {
    if (++depth > mostDepth)
      return fail("groups nested more than " + std::to_string(mostDepth) +
                  " deep");
    Part all{node(), node()};
    do {
      auto one = sequence();
      if (!one)
        return std::nullopt;
      jump(all.first, one->first);
      jump(one->last, all.last);
    } while (rest.consume_front("|"));
    --depth;
    return all;
  }

  std::optional<Part> sequence() {
    Part all = nothing();
    while (!rest.empty() && rest.front() != '|' && rest.front() != ')') {
      StringRef before = rest;
      auto one = atom();
      if (!one)
        return std::nullopt;
      StringRef text = before.drop_back(rest.size());
      one = repeated(*one, text);
      if (!one || !error.empty())
        return std::nullopt;
      all = join(all, *one);
    }
    return all;
  }

  /// Parses the quantifiers after an atom, such as `*` or `{2,3}`, and returns
  /// the atom repeated accordingly; `text` is the source text of the atom.
  std::optional<Part> repeated(Part atom, StringRef text) {
    while (!rest.empty()) {
      int least, most = -1;
      StringRef start = rest;
      if (rest.consume_front("*"))
        least = 0;
      else if (rest.consume_front("+"))
        least = 1;
      else if (rest.consume_front("?"))
        least = 0, most = 1;
      else if (!counts(least, most))
        return atom;
      if (most >= 0 && (least > most || most > mostRepeats))
        return fail("a repetition `" + start.drop_back(rest.size()).str() +
                    "`");
      if (least > mostRepeats)
        return fail("more than " + std::to_string(mostRepeats) +
                    " repetitions");
      // Greedy and lazy quantifiers match the same set of strings, so the `?`
      // of a lazy quantifier is skipped.
      rest.consume_front("?");
      auto all = times(atom, text, least, most);
      if (!all)
        return std::nullopt;
      atom = *all;
      text = "";
    }
    return atom;
  }

  bool counts(int &least, int &most) {
    StringRef given = rest;
    if (!given.consume_front("{") || given.consumeInteger(10, least))
      return false;
    most = least;
    if (given.consume_front(",") && given.consumeInteger(10, most))
      most = -1;
    if (!given.consume_front("}"))
      return false;
    rest = given;
    return true;
  }

  std::optional<Part> times(Part atom, StringRef text, int least, int most) {
    if (text.empty() && (least > 1 || most > 1))
      return fail("a repetition of a repetition");
    StringRef behind = rest;
    bool isFirst = true, isSound = true;
    auto copy = [&]() -> Part {
      if (std::exchange(isFirst, false))
        return atom;
      rest = text;
      auto again = this->atom();
      isSound &= again.has_value();
      return again.value_or(atom);
    };
    Part all = nothing();
    for (int i = 0; i < least && isSound; ++i)
      all = join(all, copy());
    if (most < 0) {
      Part more = copy();
      Part loop{node(), node()};
      jump(loop.first, more.first);
      jump(more.last, loop.first);
      jump(loop.first, loop.last);
      all = join(all, loop);
    }
    for (int i = least; i < most && isSound; ++i) {
      Part more = copy();
      Part choice{node(), node()};
      jump(choice.first, more.first);
      jump(choice.first, choice.last);
      jump(more.last, choice.last);
      all = join(all, choice);
    }
    rest = behind;
    if (!isSound)
      return std::nullopt;
    return all;
  }

  std::optional<Part> atom() {
    char c = rest.front();
    if (c == '(')
      return group();
    if (c == '[')
      return charactersOf();
    if (c == '*' || c == '+' || c == '?')
      return fail("a repetition of nothing");
    if (rest.consume_front("^") || rest.consume_front("\\A"))
      return anchor(&Machine::Node::atStart);
    if (rest.consume_front("\\b"))
      return anchor(&Machine::Node::atEdge);
    if (rest.consume_front("\\B"))
      return anchor(&Machine::Node::inside);
    if (rest.consume_front("$") || rest.consume_front("\\z"))
      return anchor(&Machine::Node::atEnd);
    if (c == '.') {
      rest = rest.drop_front();
      Bytes ascii = range(0, 127);
      if (!dotIsNewline)
        ascii.reset('\n');
      return anyOf(ascii, /*beyond=*/true);
    }
    if (c == '\\') {
      Bytes bytes;
      bool beyond = false;
      if (!escape(bytes, beyond))
        return std::nullopt;
      return anyOf(bytes, beyond);
    }
    rest = rest.drop_front();
    Part part = ofBytes(single(c));
    // The bytes of a UTF-8 character form one atom, so that a quantifier
    // applies to all of them.
    while (static_cast<uint8_t>(c) >= 0xc0 && !rest.empty() &&
           (static_cast<uint8_t>(rest.front()) & 0xc0) == 0x80) {
      part = join(part, ofBytes(single(rest.front())));
      rest = rest.drop_front();
    }
    return part;
  }

  Part anchor(std::vector<int> Machine::Node::*jumps) {
    Part part{node(), node()};
    (machine.nodes[part.first].*jumps).push_back(part.last);
    return part;
  }

  std::optional<Part> group() {
    rest = rest.drop_front();
    if (rest.consume_front("?")) {
      bool isNamed = rest.consume_front("P<");
      if (isNamed && rest.contains('>'))
        rest = rest.drop_front(rest.find('>') + 1);
      else if (!rest.consume_front(":"))
        return fail("a group `(?" + rest.take_front(2).str() + "`");
    }
    auto inside = alternatives();
    if (!inside)
      return std::nullopt;
    if (!rest.consume_front(")"))
      return fail("a `(` without its `)`");
    return inside;
  }

  static Bytes single(char c) { return Bytes().set(static_cast<uint8_t>(c)); }
  static Bytes range(unsigned from, unsigned to) {
    Bytes bytes;
    for (unsigned c = from; c <= to; ++c)
      bytes.set(c);
    return bytes;
  }

  /// Returns a sub-automaton that matches one of the ASCII characters in
  /// `ascii` or, if `beyond` is set, any non-ASCII character.
  Part anyOf(const Bytes &ascii, bool beyond) {
    Part part = ofBytes(ascii);
    if (!beyond)
      return part;
    Bytes more = range(0x80, 0xbf);
    for (auto [from, to, length] :
         {std::tuple(0xc2, 0xdf, 1), {0xe0, 0xef, 2}, {0xf0, 0xf4, 3}}) {
      int at = node();
      machine.nodes[part.first].moves.push_back({range(from, to), at});
      for (int i = 0; i < length; ++i) {
        int to = i + 1 == length ? part.last : node();
        machine.nodes[at].moves.push_back({more, to});
        at = to;
      }
    }
    return part;
  }

  /// Parses an escape such as `\d`, which stands for a set of characters.
  /// Stores its ASCII characters in `bytes`, and sets `beyond` if the set
  /// includes non-ASCII characters.
  bool escape(Bytes &bytes, bool &beyond) {
    if (rest.size() < 2) {
      fail("a `\\` at the end");
      return false;
    }
    char c = rest[1];
    rest = rest.drop_front(2);
    Bytes digits = range('0', '9'), spaces,
          words = digits | range('a', 'z') | range('A', 'Z') | single('_');
    for (char space : {'\t', '\n', '\f', '\r', ' '})
      spaces |= single(space);
    switch (c) {
    case 'd':
    case 'D':
      bytes = digits;
      break;
    case 's':
    case 'S':
      bytes = spaces;
      break;
    case 'w':
    case 'W':
      bytes = words;
      break;
    default:
      if (size_t known = StringRef("tnrfv").find(c); known != StringRef::npos) {
        bytes = single("\t\n\r\f\v"[known]);
        return true;
      }
      if (llvm::isAlnum(c) || static_cast<uint8_t>(c) >= 128) {
        fail(std::string("the escape `\\") + c + "`");
        return false;
      }
      bytes = single(c);
      return true;
    }
    if (llvm::isLower(c))
      return true;
    bytes = ~bytes & range(0, 127);
    beyond = true;
    return true;
  }

  std::optional<Part> charactersOf() {
    rest = rest.drop_front();
    bool isOther = rest.consume_front("^"), beyond = false, isFirst = true;
    Bytes all;
    while (!rest.empty() && (isFirst || rest.front() != ']')) {
      isFirst = false;
      Bytes bytes;
      bool more = false;
      if (rest.starts_with("[:"))
        return fail("a class `[:`");
      if (static_cast<uint8_t>(rest.front()) >= 128)
        return fail("a character beyond ASCII in brackets");
      if (rest.front() == '\\') {
        if (!escape(bytes, more))
          return std::nullopt;
      } else {
        bytes = single(rest.front());
        rest = rest.drop_front();
      }
      beyond |= more;
      if (bytes.count() == 1 && rest.size() > 1 && rest[0] == '-' &&
          rest[1] != ']') {
        rest = rest.drop_front();
        Bytes end;
        if (rest.front() == '\\') {
          if (!escape(end, more))
            return std::nullopt;
        } else {
          end = single(rest.front());
          rest = rest.drop_front();
        }
        unsigned from = first(bytes), to = first(end);
        if (end.count() != 1 || to < from || to > 127)
          return fail("a range of characters in brackets");
        bytes = range(from, to);
      }
      all |= bytes;
    }
    if (!rest.consume_front("]"))
      return fail("a `[` without its `]`");
    if (isOther)
      all = ~all & range(0, 127);
    return anyOf(all, beyond != isOther);
  }

  static unsigned first(const Bytes &bytes) {
    unsigned c = 0;
    while (c < 255 && !bytes[c])
      ++c;
    return c;
  }

  StringRef rest;
  Machine &machine;
  std::string &error;
  bool dotIsNewline;
  int depth = 0;
};

/// The properties of a position between two bytes of the string, which
/// determine the transitions without input that are possible there.
struct Place {
  bool atStart = false, atEnd = false;
  /// Whether the position is a word boundary; nullopt if the byte on one side
  /// of it is unknown.
  std::optional<bool> atEdge = std::nullopt;
};

/// Returns in ascending order all nodes that are reachable from `states` by
/// transitions without input at a position with the properties `place`.
std::vector<int> closure(const Machine &machine, std::vector<int> states,
                         Place place) {
  std::vector<bool> seen(machine.nodes.size());
  for (int state : states)
    seen[state] = true;
  auto follow = [&](bool holds, const std::vector<int> &jumps) {
    for (int to : jumps)
      if (holds && !seen[to]) {
        seen[to] = true;
        states.push_back(to);
      }
  };
  for (size_t i = 0; i < states.size(); ++i) {
    const Machine::Node &node = machine.nodes[states[i]];
    follow(true, node.jumps);
    follow(place.atStart, node.atStart);
    follow(place.atEnd, node.atEnd);
    follow(place.atEdge.value_or(false), node.atEdge);
    follow(!place.atEdge.value_or(true), node.inside);
  }
  llvm::sort(states);
  return states;
}

bool isOfWord(unsigned byte) {
  return byte < 128 && (llvm::isAlnum(static_cast<char>(byte)) || byte == '_');
}

} // namespace

std::optional<Automaton> compilePattern(StringRef pattern, std::string &error,
                                        bool isInText) {
  Machine machine;
  std::optional<Part> whole = Parser(pattern, machine, error, isInText).parse();
  if (!whole || !error.empty())
    return std::nullopt;
  bool hasEdges = llvm::any_of(machine.nodes, [](const Machine::Node &node) {
    return !node.atEdge.empty() || !node.inside.empty();
  });
  if (isInText && (hasEdges || llvm::any_of(machine.nodes, [](auto &node) {
                     return !node.atStart.empty() || !node.atEnd.empty();
                   }))) {
    error = "an anchor or an edge of words";
    return std::nullopt;
  }
  // An additional first node distinguishes the initial set of nodes from an
  // equal set that is reached by bytes.
  int start = machine.add();
  machine.nodes[start].jumps.push_back(whole->first);
  Automaton automaton;
  // If the pattern has word boundaries, a state also records whether the
  // previous byte is a word character.
  using State = std::pair<std::vector<int>, bool>;
  std::map<State, uint16_t> numbers;
  std::vector<State> states;
  auto numberOf = [&](std::vector<int> from, bool isBehindWord, Place place) {
    State state{closure(machine, std::move(from), place),
                hasEdges && isBehindWord};
    auto [it, isNew] = numbers.try_emplace(state, states.size());
    if (isNew)
      states.push_back(std::move(state));
    return it->second;
  };
  numberOf({start}, false, {/*atStart=*/true});
  for (size_t number = 0; number < states.size(); ++number) {
    if (states.size() > mostStates) {
      error = "a pattern whose automaton has more than " +
              std::to_string(mostStates) + " states";
      return std::nullopt;
    }
    auto [set, isBehindWord] = states[number];
    bool atStart = number == 0;
    automaton.accepts.push_back(llvm::is_contained(
        closure(machine, set, {atStart, /*atEnd=*/true, isBehindWord}),
        whole->last));
    std::vector<int> before[2] = {set, set};
    for (bool atEdge : {false, true})
      if (hasEdges)
        before[atEdge] = closure(machine, set, {atStart, false, atEdge});
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::vector<int> to;
      for (int from : before[isOfWord(byte) != isBehindWord])
        for (const auto &[bytes, target] : machine.nodes[from].moves)
          if (bytes[byte] && !llvm::is_contained(to, target))
            to.push_back(target);
      automaton.next.push_back(numberOf(std::move(to), isOfWord(byte), {}));
    }
  }
  return automaton;
}

} // namespace ingot::graph
