/* The tokens of Lambada that depend on lines and columns.
 *
 * The state is a stack: the columns of the `let`s (and `accumulate`s) whose `in` is still to come. */

#include "tree_sitter/alloc.h"
#include "tree_sitter/array.h"
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <string.h>

/* In the order of `externals` in grammar.js. All but SOLVE and AND_NEXT are empty. */
enum Token {
  LET_BEGINS,        /* behind the word `let` */
  ACCUMULATE_BEGINS, /* behind the word `accumulate` */
  LET_ENDS,          /* behind the `in` of either */
  BODY_BELOW,        /* before a body, or another `let`, without `in` */
  CASE_BELOW,        /* before the first case of a `match`, at the start of its line and without `|` */
  SOLVE,             /* the `\` of `a \ b` */
  AND_NEXT,          /* the `and` before the next function of a `let rec` */
  ERROR_SENTINEL,    /* valid only while the parser recovers from an error */
};

typedef Array(uint16_t) Columns;

/* Words that begin no expression, so a body does not begin with them. */
static const char *const OTHER_WORDS[] = {"then", "else", "in", "do", "with", "and", "or", "while", "def", "type",
                                          "import", "rec", "checkpoint", "when", "of", NULL};
/* Words that begin no pattern. */
static const char *const FORMS[] = {"let", "if", "match", "for", "loop", "accumulate", "not", "then", "else", "in",
                                    "do", "with", "and", "while", "def", "type", "import", "fun", NULL};

enum { WORD = 16 };

static bool is_letter(int32_t c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_space(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++)
    if (strcmp(word, *words) == 0) return true;
  return false;
}

/* Reads a word; of a longer one, the beginning. */
static void read_word(TSLexer *lexer, char *word) {
  unsigned length = 0;
  while (is_letter(lexer->lookahead) || is_digit(lexer->lookahead)) {
    if (length < WORD - 1) word[length++] = (char)lexer->lookahead;
    lexer->advance(lexer, false);
  }
  word[length] = 0;
  while (lexer->lookahead == '\'') lexer->advance(lexer, false);
}

/* Whether an arrow follows on this line, outside of brackets, which belongs to no `\`. */
static bool arrow_follows(TSLexer *lexer) {
  unsigned depth = 0;
  for (;;) {
    int32_t c = lexer->lookahead;
    if (c == 0 || c == '\n' || c == '\\' || c == '|' || c == ';') return false;
    if (c == '"') {
      do lexer->advance(lexer, false);
      while (lexer->lookahead != '"' && lexer->lookahead != '\n' && lexer->lookahead != 0);
    }
    if (is_letter(c)) {
      char word[WORD];
      read_word(lexer, word);
      if (strcmp(word, "fun") == 0) return false;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return false;
      depth--;
    }
    lexer->advance(lexer, false);
    if (c == '-' && lexer->lookahead == '-') return false;
    if (c == '-' && lexer->lookahead == '>' && depth == 0) return true;
  }
}

/* Behind a `\`: whether parameters and an arrow follow, so that it begins a function. */
static bool parameters_follow(TSLexer *lexer) {
  unsigned depth = 0;
  for (unsigned steps = 0; steps < 1000; steps++) {
    int32_t c = lexer->lookahead;
    if (c == '(' || c == '[' || c == '{') depth++;
    else if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return false;
      depth--;
    } else if (depth == 0 && (c == '-' || c == '=')) {
      lexer->advance(lexer, false);
      return lexer->lookahead == '>';
    } else if (depth == 0 && !is_letter(c) && !is_digit(c) && !is_space(c) && c != '\'' && c != '.') {
      return false;
    } else if (c == 0) {
      return false;
    }
    lexer->advance(lexer, false);
  }
  return false;
}

static bool push(Columns *columns, TSLexer *lexer, uint32_t word) {
  uint32_t column = lexer->get_column(lexer);
  array_push(columns, column >= word ? (uint16_t)(column - word) : 0);
  return true;
}

static void pop(Columns *columns) {
  if (columns->size > 0) (void)array_pop(columns);
}

bool tree_sitter_lambada_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Columns *columns = payload;
  if (valid[ERROR_SENTINEL]) return false;

  /* Empty tokens end before the space that follows. */
  lexer->mark_end(lexer);
  if (valid[LET_BEGINS]) {
    lexer->result_symbol = LET_BEGINS;
    return push(columns, lexer, 3);
  }
  if (valid[ACCUMULATE_BEGINS]) {
    lexer->result_symbol = ACCUMULATE_BEGINS;
    return push(columns, lexer, 10);
  }
  if (valid[LET_ENDS]) {
    pop(columns);
    lexer->result_symbol = LET_ENDS;
    return true;
  }

  bool space = false, starts_line = lexer->get_column(lexer) == 0;
  while (is_space(lexer->lookahead)) {
    space = true;
    if (lexer->lookahead == '\n') starts_line = true;
    lexer->advance(lexer, true);
  }
  int32_t first = lexer->lookahead;

  if (first == '\\' && valid[SOLVE]) {
    bool in_column = starts_line && columns->size > 0 && lexer->get_column(lexer) == *array_back(columns);
    lexer->advance(lexer, false);
    if (!in_column || !valid[BODY_BELOW]) {
      lexer->mark_end(lexer);
      bool apart = !space || is_space(lexer->lookahead);
      while (lexer->lookahead == ' ' || lexer->lookahead == '\t') lexer->advance(lexer, false);
      int32_t next = lexer->lookahead;
      bool operand = is_letter(next) || next == '(' || next == '[';
      if (!apart || !operand || parameters_follow(lexer)) return false;
      lexer->result_symbol = SOLVE;
      return true;
    }
    pop(columns);
    lexer->result_symbol = BODY_BELOW;
    return true;
  }

  if (!valid[BODY_BELOW] && !valid[CASE_BELOW] && !valid[AND_NEXT]) return false;
  bool below = valid[BODY_BELOW] && starts_line && columns->size > 0 &&
               lexer->get_column(lexer) == *array_back(columns);
  char word[WORD] = "";
  if (is_letter(first)) {
    read_word(lexer, word);
    if (valid[AND_NEXT] && strcmp(word, "and") == 0) {
      lexer->mark_end(lexer);
      lexer->result_symbol = AND_NEXT;
      return true;
    }
  } else if (first == '-') {
    lexer->advance(lexer, false);
    /* A comment, an arrow. */
    if (lexer->lookahead == '-' || lexer->lookahead == '>') return false;
  }
  bool starts = word[0] ? !is_one_of(word, OTHER_WORDS)
                        : is_digit(first) || (first != 0 && strchr("([{\\-\"", first) != NULL);
  if (valid[BODY_BELOW] && ((below && starts) || strcmp(word, "let") == 0)) {
    pop(columns);
    lexer->result_symbol = BODY_BELOW;
    return true;
  }
  if (valid[CASE_BELOW] && starts_line && starts && first != '\\' && !is_one_of(word, FORMS) && arrow_follows(lexer)) {
    lexer->result_symbol = CASE_BELOW;
    return true;
  }
  return false;
}

void *tree_sitter_lambada_external_scanner_create(void) {
  Columns *columns = ts_calloc(1, sizeof(Columns));
  array_init(columns);
  return columns;
}

void tree_sitter_lambada_external_scanner_destroy(void *payload) {
  Columns *columns = payload;
  array_delete(columns);
  ts_free(columns);
}

/* Of more `let`s inside of each other than fit, the outermost are kept. */
unsigned tree_sitter_lambada_external_scanner_serialize(void *payload, char *buffer) {
  Columns *columns = payload;
  unsigned size = columns->size * sizeof(uint16_t);
  if (size > TREE_SITTER_SERIALIZATION_BUFFER_SIZE) size = TREE_SITTER_SERIALIZATION_BUFFER_SIZE;
  if (size > 0) memcpy(buffer, columns->contents, size);
  return size;
}

void tree_sitter_lambada_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Columns *columns = payload;
  array_clear(columns);
  if (length == 0) return;
  array_reserve(columns, length / sizeof(uint16_t));
  memcpy(columns->contents, buffer, length);
  columns->size = length / sizeof(uint16_t);
}
