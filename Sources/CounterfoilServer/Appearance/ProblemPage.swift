/// An error page that tells the user what to do; it reflects nothing of the request.
public struct ProblemPage: Sendable, Hashable {
    /// The HTTP status that the page is sent with.
    public var status: Int
    /// The problem as a heading: "This sign-in has expired".
    public var title: String
    /// The explanation of the problem.
    public var explanation: String
    /// The user's next step.
    public var advice: String
    /// The identifier of the request in the log, which users can quote to the operator.
    public var requestID: String?
    /// The button to continue; nil for none.
    public var wayOn: WayOn?

    /// A button that leads to another page.
    public struct WayOn: Sendable, Hashable {
        /// A URL of the service.
        public var address: String
        /// The label of the button.
        public var title: String

        /// Creates a button.
        public init(address: String, title: String) {
            self.address = address
            self.title = title
        }
    }

    /// Creates a problem page.
    public init(
        status: Int, title: String, explanation: String, advice: String, requestID: String? = nil,
        wayOn: WayOn? = nil
    ) {
        self.status = status
        self.title = title
        self.explanation = explanation
        self.advice = advice
        self.requestID = requestID
        self.wayOn = wayOn
    }
}
