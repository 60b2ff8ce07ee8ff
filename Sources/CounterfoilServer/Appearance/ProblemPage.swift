/// An error page that tells the user what to do; it shows no text from the request.
package struct ProblemPage: Sendable, Hashable {
    /// The HTTP status of the response, which the page also shows.
    package var status: Int
    /// The problem in a few words, as the heading of the page: "This page has expired".
    package var title: String
    package var explanation: String
    /// The advice to the user on what to do next.
    package var advice: String
    /// The identifier of the request in the log, which users can quote to the operator; nil to leave it out.
    package var requestID: String?
    /// The button that leads to another page of the service; nil for none.
    package var continueLink: ContinueLink?

    /// A button that leads to another page.
    package struct ContinueLink: Sendable, Hashable {
        /// The URL to which the button leads.
        package var address: String
        /// The label of the button.
        package var title: String

        package init(address: String, title: String) {
            self.address = address
            self.title = title
        }
    }

    package init(
        status: Int, title: String, explanation: String, advice: String, requestID: String? = nil,
        continueLink: ContinueLink? = nil
    ) {
        self.status = status
        self.title = title
        self.explanation = explanation
        self.advice = advice
        self.requestID = requestID
        self.continueLink = continueLink
    }
}
