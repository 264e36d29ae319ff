[
  (definition)
  (type_definition)
  (local_function)
  (case)
  (lambda)
  (array)
  (comprehension)
  (record)
  (record_update)
  (tuple)
  (parenthesized)
] @indent.begin

[")" "]" "}"] @indent.branch @indent.end
["then" "else"] @indent.branch
(comment) @indent.ignore
(doc_comment) @indent.ignore
