import CounterfoilServer

/// A form question with a fixed set of answers, shown as a list, radio buttons or check boxes.
package struct FormChoices: Sendable, Hashable {
    /// The name of the field and the id of its group.
    package var name: String
    package var choices: [Choice]
    /// The problem and its remedy; nil if there is none.
    package var problem: String?

    package struct Choice: Sendable, Hashable {
        /// The value that the form sends.
        package var value: String
        package var label: String
        /// The explanation, in one sentence.
        package var detail: String?
        package var isChosen: Bool

        package init(_ value: String, label: String, detail: String? = nil, isChosen: Bool = false) {
            self.value = value
            self.label = label
            self.detail = detail
            self.isChosen = isChosen
        }
    }

    package init(_ name: String, _ choices: [Choice], problem: String? = nil) {
        self.name = name
        self.choices = choices
        self.problem = problem
    }
}

/// A form question with a check box; the form sends `on` if it is ticked.
package struct FormCheck: Sendable, Hashable {
    /// The name of the field and the id of its box.
    package var name: String
    package var isOn: Bool
    /// The problem and its remedy; nil if there is none.
    package var problem: String?

    package init(_ name: String, isOn: Bool = false, problem: String? = nil) {
        self.name = name
        self.isOn = isOn
        self.problem = problem
    }
}

/// An entry of the error summary of a form, listed in `page.problems` of a console page.
package struct FormProblem: Sendable, Hashable {
    /// The name of the field; nil for the form as a whole.
    package var field: String?
    /// The problem and its remedy.
    package var text: String

    package init(_ text: String, field: String? = nil) {
        self.field = field
        self.text = text
    }
}

/// The verdict on one line of a form, such as a redirect URI, shown below its field.
package struct FormVerdict: Sendable, Hashable {
    /// The result for the line; its raw value is the member `state` of the JSON and the CSS class on the page.
    package enum State: String, Sendable, Hashable, CaseIterable, Codable {
        case accepted
        /// The line would be accepted with a warning.
        case warned
        case refused
    }

    /// The line as it was typed.
    package let uri: String
    package let state: State
    /// The reasons, one sentence each.
    package let words: [String]
    /// Examples of redirect URIs that a request could contain, and whether they would match the line once it is saved;
    /// empty for a refused line.
    package let examples: [ClientPage.Example]
    /// Whether the line is accepted without a warning; there is a flag for each state, because templates cannot
    /// compare values.
    package let isAccepted: Bool
    package let isWarned: Bool
    package let isRefused: Bool

    package init(
        _ uri: String, _ state: State, words: [String], examples: [ClientPage.Example] = []
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
