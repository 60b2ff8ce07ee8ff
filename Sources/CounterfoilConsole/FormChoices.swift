import CounterfoilServer

/// A question of a form of the console that is answered by choosing, from a list, by radio buttons or by check boxes.
package struct FormChoices: Sendable, Hashable {
    /// The name of the field, also the id of its group.
    package var name: String
    /// What can be chosen.
    package var choices: [Choice]
    /// What is wrong with the choice and how to mend it; nil when nothing is.
    package var problem: String?

    /// One of the answers.
    package struct Choice: Sendable, Hashable {
        /// What the form sends for it.
        package var value: String
        /// What people read.
        package var label: String
        /// What it means, in one sentence.
        package var detail: String?
        /// Whether it is chosen.
        package var isChosen: Bool

        /// Makes an answer.
        package init(_ value: String, label: String, detail: String? = nil, isChosen: Bool = false) {
            self.value = value
            self.label = label
            self.detail = detail
            self.isChosen = isChosen
        }
    }

    /// Makes a question.
    package init(_ name: String, _ choices: [Choice], problem: String? = nil) {
        self.name = name
        self.choices = choices
        self.problem = problem
    }
}

/// A question of a form of the console that is answered by yes or no; the form sends `on` for yes.
package struct FormCheck: Sendable, Hashable {
    /// The name of the field, also the id of its box.
    package var name: String
    /// Whether the box is ticked.
    package var isOn: Bool
    /// What is wrong with the answer and how to mend it; nil when nothing is.
    package var problem: String?

    /// Makes a question.
    package init(_ name: String, isOn: Bool = false, problem: String? = nil) {
        self.name = name
        self.isOn = isOn
        self.problem = problem
    }
}

/// A line of the summary of what is wrong with a form; `page.problems` of a console page is a list of them.
package struct FormProblem: Sendable, Hashable {
    /// The name of the field that it is about; nil for the form as a whole.
    package var field: String?
    /// What is wrong and how to mend it.
    package var text: String

    /// Makes a line.
    package init(_ text: String, field: String? = nil) {
        self.field = field
        self.text = text
    }
}

/// What would become of one line of a form, such as a redirect URI, shown below its field.
package struct FormVerdict: Sendable, Hashable {
    /// The three verdicts; the raw value is the word in JSON and the class on the page.
    package enum State: String, Sendable, Hashable, CaseIterable, Codable {
        /// It would be accepted.
        case accepted
        /// It would be accepted, and is unwise.
        case warned
        /// It would be refused.
        case refused
    }

    /// The line.
    package let uri: String
    /// The verdict.
    package let state: State
    /// Why, a sentence each.
    package let words: [String]
    /// What will and will not match once it is saved; none for a line that is refused.
    package let examples: [ApplicationPage.Example]
    /// Whether it is accepted without a warning; templates cannot compare.
    package let isAccepted: Bool
    /// Whether it is accepted with a warning.
    package let isWarned: Bool
    /// Whether it is refused.
    package let isRefused: Bool

    /// Makes a verdict.
    package init(
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
