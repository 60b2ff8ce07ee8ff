/// The way back to the application: the page goes on by itself and has a button in case it does not, or, to an application
/// that nobody here answers for, only when the person chooses to (RFC 9700 §4.11.2).
///
/// It is the answer to the consent form. A redirect there would be stopped by Chromium, which applies `form-action` to the
/// whole chain that a form starts.
public struct GoOnPage: Sendable, Hashable {
    /// What came of the request.
    public enum Kind: Sendable, Hashable {
        /// The application got what it asked for.
        case allowed
        /// The person denied it, and the application got nothing.
        case denied
        /// The service refused it, whatever the person said, and the application got nothing.
        case refused
    }

    /// The application that waits for the answer.
    public var applicationName: DisplayName
    /// What stands in the place of the application's logo where it has none.
    public var applicationInitials: String
    /// The path of the application's logo.
    public var applicationLogo: String?
    /// The whole redirect URL, with the authorization response in it; without it where ``fields`` hold the response.
    public var destination: String
    /// The authorization response as a form that is posted to the destination (OAuth 2.0 Form Post Response Mode §2); empty where
    /// the response stands in the URL.
    public var fields: [Field] = []
    /// What came of the request.
    public var kind: Kind
    /// The host that the way leads to, where the person is to choose; nil where the page goes on by itself.
    public var host: String?

    /// Whether the page continues automatically.
    public var goesOn: Bool { host == nil }

    /// A hidden field of the form.
    public struct Field: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes the way back.
    public init(
        applicationName: DisplayName, applicationLogo: String? = nil, destination: String, kind: Kind,
        host: String? = nil
    ) {
        self.applicationName = applicationName
        applicationInitials = applicationName.initials
        self.applicationLogo = applicationLogo
        self.destination = destination
        self.kind = kind
        self.host = host
    }
}
