import CounterfoilServer

/// A field of a form of the console: what was typed, and what is wrong with it.
package struct FormField: Sendable, Hashable {
    /// The name of the field, also the id of its input.
    package var name: String
    /// What stands in it.
    package var value: String
    /// What is wrong with it and how to mend it, in one or more sentences; nil when nothing is.
    package var problem: String?

    /// Makes a field.
    package init(_ name: String, _ value: String = "", problem: String? = nil) {
        self.name = name
        self.value = value
        self.problem = problem
    }
}

/// A field of lines, with what is said about each of them.
package struct FormLines: Sendable, Hashable {
    /// The name of the field, also the id of its input.
    package var name: String
    /// What stands in it, a line for each.
    package var value: String
    /// What is wrong with it and how to mend it; nil when nothing is.
    package var problem: String?
    /// What is said about each line.
    package var verdicts: [FormVerdict]

    /// Makes a field.
    package init(_ name: String, _ lines: [String] = [], problem: String? = nil, verdicts: [FormVerdict] = []) {
        self.name = name
        value = lines.joined(separator: "\n")
        self.problem = problem
        self.verdicts = verdicts
    }
}
