import CounterfoilServer

/// A text field of a form, with its value and its problem.
package struct FormField: Sendable, Hashable {
    /// The name of the field and the id of its input.
    package var name: String
    package var value: String
    /// The problem and its remedy, in one or more sentences; nil if there is none.
    package var problem: String?

    package init(_ name: String, _ value: String = "", problem: String? = nil) {
        self.name = name
        self.value = value
        self.problem = problem
    }
}

/// A text field with one entry per line, and a verdict on each line.
package struct FormLines: Sendable, Hashable {
    /// The name of the field and the id of its input.
    package var name: String
    /// The value, with one line per entry.
    package var value: String
    /// The problem and its remedy; nil if there is none.
    package var problem: String?
    /// The verdicts, in the order of the lines.
    package var verdicts: [FormVerdict]

    package init(_ name: String, _ lines: [String] = [], problem: String? = nil, verdicts: [FormVerdict] = []) {
        self.name = name
        value = lines.joined(separator: "\n")
        self.problem = problem
        self.verdicts = verdicts
    }
}
