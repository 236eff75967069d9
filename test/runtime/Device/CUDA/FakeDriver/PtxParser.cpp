// SPDX-License-Identifier: Apache-2.0

#include "Ptx.h"
#include "PtxOps.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace fake;

namespace {

/// One kernel's names while its body is read.
class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}
  Module run();

private:
  void skip();
  bool eat(const char *word);
  void expect(const char *word);
  std::string name();
  std::string statement();
  void entry();
  void variable(Space space, bool isInside);
  void body(Kernel &kernel);
  void markSums(Kernel &kernel);
  void instruction(Kernel &kernel, const std::string &line);
  Operand operand(Kernel &kernel, std::string word);
  uint32_t registerOf(Kernel &kernel, const std::string &name);
  void decode(Instruction &instruction);
  void checkFence(const Instruction &instruction);
  void checkWarpgroup(const Instruction &instruction);
  void checkProduct(const Instruction &instruction);
  [[noreturn]] void fail(const std::string &what) {
    throw "ptx: " + what + " at '" + text.substr(at, 60) + "'";
  }

  const std::string &text;
  size_t at = 0;
  Module module;
  std::map<std::string, uint32_t> registers;
  std::map<std::string, uint64_t> symbols; ///< Addresses of variables.
  std::map<std::string, uint32_t> labels;
  std::map<std::string, std::vector<std::string>> tables;
  uint32_t sharedBytes = 0; ///< Of the module, for all kernels.
  uint64_t localBytes = 0;
};

bool isWord(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (c == separator && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  return parts;
}

std::string trim(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\n");
  size_t last = text.find_last_not_of(" \t\n");
  return first == text.npos ? "" : text.substr(first, last - first + 1);
}

} // namespace

void Parser::skip() {
  while (at < text.size()) {
    if (isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else {
      return;
    }
  }
}

bool Parser::eat(const char *word) {
  skip();
  size_t length = std::strlen(word);
  if (text.compare(at, length, word) != 0 ||
      (isWord(word[length - 1]) && at + length < text.size() &&
       isWord(text[at + length])))
    return false;
  at += length;
  return true;
}

void Parser::expect(const char *word) {
  if (!eat(word))
    fail(std::string("expected ") + word);
}

std::string Parser::name() {
  skip();
  size_t first = at;
  while (at < text.size() && isWord(text[at]))
    ++at;
  if (first == at)
    fail("expected a name");
  return text.substr(first, at - first);
}

/// Up to the semicolon, without comments.
std::string Parser::statement() {
  std::string line;
  for (skip(); at < text.size() && text[at] != ';'; ++at) {
    if (text.compare(at, 2, "//") == 0)
      skip();
    line += text[at];
  }
  ++at;
  return line;
}

Module Parser::run() {
  while (skip(), at < text.size()) {
    if (eat(".version") || eat(".address_size")) {
      name();
    } else if (eat(".target")) {
      const std::string target = name();
      module.capability = std::atoi(target.c_str() + 3);
      module.isSpecific = target.ends_with('a');
    } else if (eat(".visible") || eat(".weak") || eat(".extern")) {
      continue; // Shared memory without a size is that of the launch.
    } else if (eat(".entry")) {
      entry();
    } else if (eat(".shared")) {
      variable(Space::Shared, false);
    } else {
      fail("unknown directive");
    }
  }
  return std::move(module);
}

/// ".align 16 .b8 name[4096];"
void Parser::variable(Space space, bool isInside) {
  uint64_t align = 1, bytes = 1;
  if (eat(".align"))
    align = std::stoull(name());
  std::string type = name();
  bytes = std::stoull(type.substr(2)) / 8;
  std::string symbol = name();
  if (eat("[")) {
    skip();
    bytes *= text[at] == ']' ? 0 : std::stoull(name());
    expect("]");
  }
  expect(";");
  if (space == Space::Local) {
    localBytes = (localBytes + align - 1) / align * align;
    symbols[symbol] = localWindow + localBytes;
    localBytes += bytes;
    return;
  }
  sharedBytes = (sharedBytes + align - 1) / align * align;
  symbols[symbol] = sharedWindow + sharedBytes;
  sharedBytes += bytes;
}

void Parser::entry() {
  Kernel kernel;
  kernel.name = name();
  registers.clear();
  labels.clear();
  tables.clear();
  localBytes = 0;
  uint32_t outer = sharedBytes;
  std::map<std::string, uint64_t> outerSymbols = symbols;
  if (eat("(")) {
    while (!eat(")")) {
      expect(".param");
      unsigned bytes = std::stoul(name().substr(2)) / 8;
      while (eat(".ptr") || eat(".global") || eat(".shared"))
        ;
      if (eat(".align"))
        name();
      unsigned &end = kernel.parameterBytes;
      end = (end + bytes - 1) / bytes * bytes;
      symbols[name()] = end;
      kernel.parameters.push_back(bytes);
      kernel.offsets.push_back(end);
      end += bytes;
      eat(",");
    }
  }
  for (skip(); text[at] != '{'; skip()) {
    std::string directive = name();
    skip();
    if (directive == ".explicitcluster")
      continue;
    if (directive == ".reqntid" || directive == ".maxntid")
      kernel.maxThreads = std::stoul(name());
    else if (directive == ".reqnctapercluster")
      kernel.cluster = std::stoul(name());
    else if (directive == ".minnctapersm" || directive == ".maxnreg")
      name();
    else
      fail("unknown directive " + directive);
    while (eat(","))
      name();
  }
  ++at;
  body(kernel);
  kernel.sharedBytes = sharedBytes;
  kernel.localBytes = localBytes;
  kernel.registers = registers.size();
  module.kernels[kernel.name] = kernel;
  sharedBytes = outer;
  symbols = outerSymbols;
}

void Parser::body(Kernel &kernel) {
  std::vector<std::string> lines;
  for (int depth = 1;;) {
    if (eat("{")) { // Around a register of its own.
      ++depth;
    } else if (eat("}")) {
      if (--depth == 0)
        break;
    } else if (eat(".reg")) {
      // ".b32 %r<9>", whose names say what they are, or ".b16 tmp".
      std::string names = statement();
      for (const std::string &part :
           split(names.substr(names.find_first_of(" \t")), ','))
        if (part.find('%') == part.npos)
          registerOf(kernel, trim(part));
    } else if (eat(".shared")) {
      variable(Space::Shared, true);
    } else if (eat(".local")) {
      variable(Space::Local, true);
    } else if (eat(".pragma")) {
      statement();
    } else {
      size_t before = at;
      if (text[at] == '$' || text[at] == '_') {
        std::string label = name();
        if (eat(":")) {
          skip();
          if (eat(".branchtargets"))
            tables[label] = split(statement(), ',');
          else
            labels[label] = lines.size();
          continue;
        }
        at = before;
      }
      lines.push_back(statement());
    }
  }
  for (const std::string &line : lines)
    instruction(kernel, line);
  markSums(kernel);
}

/// Whatever has a register that wgmma writes.
void Parser::markSums(Kernel &kernel) {
  std::vector<bool> isSum(registers.size());
  for (const Instruction &each : kernel.code)
    if (each.op == op_wgmma) {
      kernel.hasProducts = true;
      if (!each.operands.empty())
        for (const Operand &sum : each.operands[0].parts)
          isSum[sum.index] = true;
    }
  auto mark = [&](Operand &operand) {
    operand.isSum = operand.kind == Operand::Register && isSum[operand.index];
  };
  for (Instruction &each : kernel.code)
    for (Operand &operand : each.operands) {
      mark(operand);
      for (Operand &part : operand.parts)
        mark(part);
    }
}

uint32_t Parser::registerOf(Kernel &, const std::string &name) {
  return registers.try_emplace(name, registers.size()).first->second;
}

static const char *const specials[] = {"%tid.x",    "%ntid.x",  "%ctaid.x",
                                       "%nctaid.x", "%laneid",  "%tid.y",
                                       "%tid.z",    "%ctaid.y", "%ctaid.z"};

Operand Parser::operand(Kernel &kernel, std::string word) {
  Operand result;
  word = trim(word);
  if (word.starts_with("[")) {
    std::string inside = word.substr(1, word.size() - 2);
    size_t plus = inside.find('+');
    result = operand(kernel, inside.substr(0, plus));
    if (result.kind == Operand::Immediate) {
      result.value +=
          plus == inside.npos ? 0 : std::stoll(inside.substr(plus + 1));
    } else {
      result.value =
          plus == inside.npos ? 0 : std::stoll(inside.substr(plus + 1));
    }
    result.isAddress = true;
    return result;
  }
  if (word.starts_with("{")) {
    result.kind = Operand::Vector;
    for (const std::string &part : split(word.substr(1, word.size() - 2), ','))
      result.parts.push_back(operand(kernel, part));
    return result;
  }
  if (word == "_")
    return result;
  if (word.starts_with("%")) {
    for (uint32_t i = 0; i != std::size(specials); ++i)
      if (word == specials[i]) {
        result.kind = Operand::Special;
        result.index = i;
        return result;
      }
    if (word.find('.') != word.npos)
      fail("unknown special register " + word);
    result.kind = Operand::Register;
    result.index = registerOf(kernel, word);
    return result;
  }
  if (auto known = registers.find(word); known != registers.end()) {
    result.kind = Operand::Register;
    result.index = known->second;
    return result;
  }
  result.kind = Operand::Immediate;
  if (word.starts_with("0f") || word.starts_with("0d"))
    result.value = std::stoull(word.substr(2), nullptr, 16);
  else if (auto symbol = symbols.find(word); symbol != symbols.end())
    result.value = symbol->second;
  else if (word[0] == '-' || isdigit(static_cast<unsigned char>(word[0])))
    result.value = word[0] == '-' ? uint64_t(std::stoll(word, nullptr, 0))
                                  : std::stoull(word, nullptr, 0);
  else
    fail("unknown operand " + word);
  return result;
}

/// Whether it is known of two halves at once, or of two whole numbers.
static bool isPairwise(int op, bool isWhole) {
  switch (op) {
  case op_add:
  case op_min:
  case op_max:
    return true;
  case op_sub:
  case op_mul:
  case op_fma:
  case op_neg:
  case op_abs:
  case op_setp:
    return !isWhole;
  default:
    return false;
  }
}

void Parser::decode(Instruction &instruction) {
  const std::string &name = instruction.words[0];
  instruction.op = -1;
  for (int i = 0; i != int(std::size(opNames)); ++i)
    if (name == opNames[i])
      instruction.op = i;
  if (instruction.op < 0)
    fail("unknown operation " + instruction.text);
  for (size_t i = 1; i != instruction.words.size(); ++i) {
    const std::string &word = instruction.words[i];
    if (word == "global")
      instruction.space = Space::Global;
    else if (word == "shared")
      instruction.space = Space::Shared;
    else if (word == "shared::cluster")
      instruction.space = Space::Cluster;
    else if (word == "local")
      instruction.space = Space::Local;
    else if (word == "param")
      instruction.space = Space::Param;
    bool isWholePair = word == "s16x2" || word == "u16x2";
    bool isPair = word == "f16x2" || word == "bf16x2" || isWholePair;
    bool isKnownPair = instruction.op == op_cvt && !isWholePair
                           ? !instruction.type
                           : isPairwise(instruction.op, isWholePair);
    if (isPair && !isKnownPair)
      fail("unknown type " + word);
    instruction.isPair |= isPair;
    bool isType = word == "pred" || word == "bf16" || isPair ||
                  (word.size() >= 2 && word.size() <= 4 &&
                   strchr("busf", word[0]) && isdigit(word[1]) &&
                   word.find_first_not_of("0123456789", 1) == word.npos);
    if (!isType)
      continue;
    bool isBrain = word.starts_with("bf16");
    char type = word == "pred" ? 'p' : isBrain ? 'h' : word[0];
    unsigned bits = word == "pred"      ? 1
                    : isBrain || isPair ? 16
                                        : std::atoi(word.c_str() + 1);
    if (!instruction.type) {
      instruction.type = type;
      instruction.bits = bits;
    } else {
      instruction.type2 = type;
      instruction.bits2 = bits;
    }
  }
}

void Parser::checkFence(const Instruction &instruction) {
  const std::vector<std::string> &words = instruction.words;
  if (module.capability < 90)
    fail("fence.proxy.async without .target sm_90");
  if (words.size() < 3 || words.size() > 4 || words[1] != "proxy" ||
      words[2] != "async" || (words.size() == 4 && words[3] != "shared::cta"))
    fail("unknown fence " + instruction.text);
}

void Parser::checkWarpgroup(const Instruction &instruction) {
  const std::vector<std::string> &words = instruction.words;
  const std::vector<Operand> &operands = instruction.operands;
  if (module.capability != 90 || !module.isSpecific)
    fail("wgmma without .target sm_90a");
  bool isKnown =
      words.size() >= 4 && words[2] == "sync" && words[3] == "aligned";
  if (isKnown && words[1] == "mma_async")
    return checkProduct(instruction);
  if (isKnown && words[1] == "wait_group")
    isKnown = operands.size() == 1 && operands[0].kind == Operand::Immediate;
  else
    isKnown = isKnown && operands.empty() &&
              (words[1] == "fence" || words[1] == "commit_group");
  if (!isKnown || words.size() != 4)
    fail("unknown operation " + instruction.text);
}

/// wgmma.mma_async.sync.aligned.m64nNk16.f32.TYPE.TYPE d, a-desc, b-desc,
/// scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b.
void Parser::checkProduct(const Instruction &instruction) {
  const std::vector<std::string> &words = instruction.words;
  const std::vector<Operand> &operands = instruction.operands;
  if (words.size() != 8 || operands.size() != 8)
    fail("unknown product " + instruction.text);
  const size_t columns = operands[0].parts.size() * 2;
  bool isKnown = columns && columns <= 256 && columns % 8 == 0 &&
                 words[4] == "m64n" + std::to_string(columns) + "k16" &&
                 words[5] == "f32" && words[6] == words[7] &&
                 (words[6] == "f16" || words[6] == "bf16");
  auto isOf = [&](size_t i, uint64_t a, uint64_t b) {
    return operands[i].kind == Operand::Immediate &&
           (operands[i].value == a || operands[i].value == b);
  };
  for (const Operand &sum : operands[0].parts)
    isKnown &= sum.kind == Operand::Register;
  for (size_t i : {1, 2})
    isKnown &= operands[i].kind == Operand::Register && !operands[i].isAddress;
  isKnown &= operands[3].kind == Operand::Register || isOf(3, 0, 1);
  for (size_t i : {4, 5})
    isKnown &= isOf(i, 1, uint64_t(-1));
  for (size_t i : {6, 7})
    isKnown &= isOf(i, 0, 1);
  if (!isKnown)
    fail("unknown product " + instruction.text);
}

void Parser::instruction(Kernel &kernel, const std::string &line) {
  Instruction instruction;
  instruction.text = trim(line);
  std::string rest = instruction.text;
  if (rest.starts_with("@")) {
    size_t space = rest.find_first_of(" \t");
    std::string guard = rest.substr(1, space - 1);
    instruction.guardIsNegated = guard.starts_with("!");
    instruction.guard =
        registerOf(kernel, guard.substr(instruction.guardIsNegated));
    rest = trim(rest.substr(space));
  }
  size_t space = rest.find_first_of(" \t\n");
  instruction.words = split(rest.substr(0, space), '.');
  decode(instruction);
  std::string tail = space == rest.npos ? "" : trim(rest.substr(space));
  auto labelOf = [&](const std::string &label) {
    auto known = labels.find(trim(label));
    if (known == labels.end())
      fail("unknown label " + label);
    return known->second;
  };
  if (instruction.words[0] == "bra") {
    instruction.target = labelOf(tail);
  } else if (instruction.words[0] == "brx") {
    std::vector<std::string> parts = split(tail, ',');
    instruction.operands.push_back(operand(kernel, parts[0]));
    for (const std::string &label : tables[trim(parts[1])])
      instruction.table.push_back(labelOf(label));
  } else if (!tail.empty()) {
    for (std::string part : split(tail, ',')) {
      // "%p1|%p2": of a comparison of pairs.
      size_t bar = part.find('|');
      if ((bar != part.npos) !=
          (instruction.op == op_setp && instruction.isPair &&
           instruction.operands.empty()))
        fail("unknown operand " + part);
      instruction.operands.push_back(
          bar == part.npos ? operand(kernel, part)
                           : operand(kernel, "{" + part.substr(0, bar) + "," +
                                                 part.substr(bar + 1) + "}"));
    }
  }
  if (instruction.op == op_fence)
    checkFence(instruction);
  if (instruction.op == op_wgmma)
    checkWarpgroup(instruction);
  kernel.code.push_back(std::move(instruction));
}

Module fake::parse(const std::string &text) { return Parser(text).run(); }
