[
  (definition)
  (type_definition)
  (local_function)
  (match)
  (loop)
  (array)
  (record)
] @fold
