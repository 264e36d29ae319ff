(comment) @comment
(doc_comment) @comment.documentation
(string) @string
(integer) @number
(real) @number.float
(boolean) @boolean

["def" "rec" "type" "fun"] @keyword.function
(rule_kind) @keyword.function
["import" "as"] @keyword.import
["if" "then" "else" "match" "when"] @keyword.conditional
["for" "loop" "while" "do"] @keyword.repeat
["let" "in" "with" "accumulate" "checkpoint" "of"] @keyword
["and" "or" "not"] @keyword.operator
(not_function) @keyword.operator

(operator) @operator
(binary operator: _ @operator)
(unary operator: _ @operator)
["=" "->" "=>" "+=" ".." "\\" "|" "<" "<="] @operator

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter

(type_name) @type
(size_variable (identifier) @type)
(type_definition name: (identifier) @type.definition)
(type_definition parameter: (identifier) @type)
(constructor) @constructor
(constructor_definition name: (constructor) @constructor)

(field_type name: (identifier) @property)
(field_pattern name: (identifier) @property)
(record_field name: (identifier) @property)
(field_access field: (identifier) @property)

(definition name: (_) @function)
(local_function name: (_) @function)
(definition parameter: (identifier) @variable.parameter)
(local_function parameter: (identifier) @variable.parameter)
(lambda parameter: (identifier) @variable.parameter)
(typed_pattern (identifier) @variable.parameter)
(application function: (identifier) @function.call)
(application function: (field_access field: (identifier) @function.call))
(call function: (identifier) @function.call)
(call function: (field_access field: (identifier) @function.call))
