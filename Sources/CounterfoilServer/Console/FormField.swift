/// A field of a form of the console: what was typed, and what is wrong with it.
public struct FormField: Sendable, Hashable {
    /// The name of the field, also the id of its input.
    public var name: String
    /// What stands in it.
    public var value: String
    /// What is wrong with it and how to mend it, in one or more sentences; nil when nothing is.
    public var problem: String?

    /// Makes a field.
    public init(_ name: String, _ value: String = "", problem: String? = nil) {
        self.name = name
        self.value = value
        self.problem = problem
    }
}

/// A field of lines, with what is said about each of them.
public struct FormLines: Sendable, Hashable {
    /// The name of the field, also the id of its input.
    public var name: String
    /// What stands in it, a line for each.
    public var value: String
    /// What is wrong with it and how to mend it; nil when nothing is.
    public var problem: String?
    /// What is said about each line.
    public var verdicts: [FormVerdict]

    /// Makes a field.
    public init(_ name: String, _ lines: [String] = [], problem: String? = nil, verdicts: [FormVerdict] = []) {
        self.name = name
        value = lines.joined(separator: "\n")
        self.problem = problem
        self.verdicts = verdicts
    }
}
