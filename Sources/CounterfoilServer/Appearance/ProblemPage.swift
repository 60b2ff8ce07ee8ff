/// Something that went wrong, said so that the person knows what to do; nothing of the request is reflected.
public struct ProblemPage: Sendable, Hashable {
    /// The HTTP status that the page is sent with.
    public var status: Int
    /// What is wrong, as a heading: "This sign-in has expired".
    public var title: String
    /// What happened.
    public var explanation: String
    /// What the person can do now.
    public var advice: String
    /// What to quote to whoever runs the service, so that they find it in the log.
    public var requestID: String?
    /// Where the person can go on from here.
    public var wayOn: WayOn?

    /// A button that goes on.
    public struct WayOn: Sendable, Hashable {
        /// An address of the service.
        public var address: String
        /// What the button says.
        public var title: String

        /// Makes a button.
        public init(address: String, title: String) {
            self.address = address
            self.title = title
        }
    }

    /// Makes a problem page.
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
