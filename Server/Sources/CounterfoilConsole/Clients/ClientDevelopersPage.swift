package import CounterfoilServer

/// The users who manage a client with its owner.
package struct ClientDevelopersPage: ConsolePage, Hashable {
    package static let template = "application-developers"

    package struct Developer: Sendable, Hashable {
        package var name: DisplayName
        package var username: String
        /// The day since which the user manages the client.
        package var since: String
        /// Whether it is the user who sees the page.
        package var isSelf: Bool
    }

    /// A question to the user with a name, if there is one.
    package struct Question: Sendable, Hashable {
        package var username: String
        /// The day until which the question can be answered.
        package var expires: String
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var client: ClientSummary
    package var paths: ClientPaths
    /// The owner; nil if there is none.
    package var owner: DisplayName?
    /// The users, in the order in which they accepted.
    package var developers: [Developer]
    /// The open questions, by name.
    package var questions: [Question]
    /// Whether the user may make another user the owner.
    package var maySetOwner: Bool
    /// Whether the user is an administrator, who adds a user without a question.
    package var isAdministrator: Bool
    /// The field `username` of a user to ask.
    package var username: FormField
    /// Whether one more user can manage the client.
    package var canAdd: Bool
    /// The path that the forms post to.
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
}
