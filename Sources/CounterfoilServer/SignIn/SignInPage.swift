/// The sign-in form; it posts `username`, `password`, `request` and `ticket`.
public struct SignInPage: Sendable, Hashable {
    /// The application that the person comes from, where there is one.
    public var applicationName: DisplayName?
    /// The path that the form posts to.
    public var action: String
    /// The authorization request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// The user name to start with: from `login_hint`, or as it was typed when the form comes back.
    public var username: String
    /// Why the form came back, in one sentence; the same for an unknown person and for a wrong password.
    public var problem: String?
    /// How long to wait before the next try, in seconds, where tries are too many.
    public var retryAfterSeconds: Int?
    /// Who signed in here before, as this browser remembers it; a button `forget` with the value `true` ends that.
    public var earlier: Earlier?
    /// The way to the browser from a web-view in which the page is shown, which is warned of; nil anywhere else.
    public var wayToBrowser: WayToBrowser?
    /// What happened before the page came, in a sentence or two, where it is not what the person expects.
    public var notice: String?

    /// Somebody who signed in in this browser before.
    public struct Earlier: Sendable, Hashable {
        /// The name.
        public var name: DisplayName
        /// The e-mail address, masked.
        public var email: MaskedEmail?

        /// Makes a hint.
        public init(name: DisplayName, email: MaskedEmail? = nil) {
            self.name = name
            self.email = email
        }
    }

    /// Makes the sign-in form.
    public init(
        applicationName: DisplayName? = nil, action: String, request: String, ticket: String,
        username: String = "", problem: String? = nil, retryAfterSeconds: Int? = nil, earlier: Earlier? = nil,
        wayToBrowser: WayToBrowser? = nil, notice: String? = nil
    ) {
        self.applicationName = applicationName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.username = username
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
        self.earlier = earlier
        self.wayToBrowser = wayToBrowser
        self.notice = notice
    }
}
