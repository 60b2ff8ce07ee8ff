/// An error page that tells the user what to do; it reflects nothing of the request.
package struct ProblemPage: Sendable, Hashable {
    /// The HTTP status that the page is sent with.
    package var status: Int
    /// The problem as a heading: "This sign-in has expired".
    package var title: String
    /// The explanation of the problem.
    package var explanation: String
    /// The user's next step.
    package var advice: String
    /// The identifier of the request in the log, which users can quote to the operator.
    package var requestID: String?
    /// The button to continue; nil for none.
    package var continueLink: ContinueLink?

    /// A button that leads to another page.
    package struct ContinueLink: Sendable, Hashable {
        /// A URL of the service.
        package var address: String
        /// The label of the button.
        package var title: String

        /// Creates a button.
        package init(address: String, title: String) {
            self.address = address
            self.title = title
        }
    }

    /// Creates a problem page.
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
