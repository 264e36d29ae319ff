[(definition) (local_function) (lambda) (let) (case) (for) (comprehension) (loop) (accumulate) (rule)] @local.scope

(definition name: (identifier) @local.definition.function)
(local_function name: (identifier) @local.definition.function)
(definition parameter: (identifier) @local.definition.parameter)
(local_function parameter: (identifier) @local.definition.parameter)
(lambda parameter: (identifier) @local.definition.parameter)
(typed_pattern (identifier) @local.definition.parameter)
(let pattern: (identifier) @local.definition.var)
(each pattern: (identifier) @local.definition.var)
(below index: (identifier) @local.definition.var)
(between index: (identifier) @local.definition.var)
(accumulator name: (identifier) @local.definition.var)

(identifier) @local.reference
