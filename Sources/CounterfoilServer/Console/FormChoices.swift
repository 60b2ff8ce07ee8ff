/// A question of a form of the console that is answered by choosing, from a list, by radio buttons or by check boxes.
public struct FormChoices: Sendable, Hashable {
    /// The name of the field, also the id of its group.
    public var name: String
    /// What can be chosen.
    public var choices: [Choice]
    /// What is wrong with the choice and how to mend it; nil when nothing is.
    public var problem: String?

    /// One of the answers.
    public struct Choice: Sendable, Hashable {
        /// What the form sends for it.
        public var value: String
        /// What people read.
        public var label: String
        /// What it means, in one sentence.
        public var detail: String?
        /// Whether it is chosen.
        public var isChosen: Bool

        /// Makes an answer.
        public init(_ value: String, label: String, detail: String? = nil, isChosen: Bool = false) {
            self.value = value
            self.label = label
            self.detail = detail
            self.isChosen = isChosen
        }
    }

    /// Makes a question.
    public init(_ name: String, _ choices: [Choice], problem: String? = nil) {
        self.name = name
        self.choices = choices
        self.problem = problem
    }
}

/// A question of a form of the console that is answered by yes or no; the form sends `on` for yes.
public struct FormCheck: Sendable, Hashable {
    /// The name of the field, also the id of its box.
    public var name: String
    /// Whether the box is ticked.
    public var isOn: Bool
    /// What is wrong with the answer and how to mend it; nil when nothing is.
    public var problem: String?

    /// Makes a question.
    public init(_ name: String, isOn: Bool = false, problem: String? = nil) {
        self.name = name
        self.isOn = isOn
        self.problem = problem
    }
}

/// A line of the summary of what is wrong with a form; `page.problems` of a console page is a list of them.
public struct FormProblem: Sendable, Hashable {
    /// The name of the field that it is about; nil for the form as a whole.
    public var field: String?
    /// What is wrong and how to mend it.
    public var text: String

    /// Makes a line.
    public init(_ text: String, field: String? = nil) {
        self.field = field
        self.text = text
    }
}

/// What would become of one line of a form, such as a redirect URI, shown below its field.
public struct FormVerdict: Sendable, Hashable {
    /// The three verdicts; the raw value is the word in JSON and the class on the page.
    public enum State: String, Sendable, Hashable, CaseIterable, Codable {
        /// It would be accepted.
        case accepted
        /// It would be accepted, and is unwise.
        case warned
        /// It would be refused.
        case refused
    }

    /// The line.
    public let uri: String
    /// The verdict.
    public let state: State
    /// Why, a sentence each.
    public let words: [String]
    /// What will and will not match once it is saved; none for a line that is refused.
    public let examples: [ApplicationPage.Example]
    /// Whether it is accepted without a warning; templates cannot compare.
    public let isAccepted: Bool
    /// Whether it is accepted with a warning.
    public let isWarned: Bool
    /// Whether it is refused.
    public let isRefused: Bool

    /// Makes a verdict.
    public init(
        _ uri: String, _ state: State, words: [String], examples: [ApplicationPage.Example] = []
    ) {
        self.uri = uri
        self.state = state
        self.words = words
        self.examples = examples
        isAccepted = state == .accepted
        isWarned = state == .warned
        isRefused = state == .refused
    }
}
