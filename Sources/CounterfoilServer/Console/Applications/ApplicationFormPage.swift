/// The form in which an application is registered or changed.
public struct ApplicationFormPage: Sendable, Hashable {
    /// A scope that can be assigned.
    public struct ScopeChoice: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// What it allows.
        public var description: String
        /// Whether the application may ask for it; sent as `scope`.
        public var isAssigned: Bool
        /// Whether a person may leave it out; sent as `optional_scope`.
        public var isOptional: Bool
        /// Whether it could be left out at all.
        public var canBeOptional: Bool

        /// Makes a choice.
        public init(
            name: String, description: String, isAssigned: Bool, isOptional: Bool, canBeOptional: Bool = true
        ) {
            self.name = name
            self.description = description
            self.isAssigned = isAssigned
            self.isOptional = isOptional
            self.canBeOptional = canBeOptional
        }
    }

    /// The fields of the three kinds of addresses that an application of a type has, none where it has none.
    public struct Addresses: Sendable, Hashable {
        /// Where answers may go.
        public var redirectURIs: FormLines
        /// Where live verdicts come from.
        public var verdictPath: String
        /// Where people may be sent after signing out.
        public var postLogoutRedirectURIs: FormLines
        /// Where the application is told that a session has ended.
        public var backchannelLogoutURI: FormField

        /// Makes fields.
        public init(
            redirectURIs: FormLines, verdictPath: String, postLogoutRedirectURIs: FormLines,
            backchannelLogoutURI: FormField
        ) {
            self.redirectURIs = redirectURIs
            self.verdictPath = verdictPath
            self.postLogoutRedirectURIs = postLogoutRedirectURIs
            self.backchannelLogoutURI = backchannelLogoutURI
        }
    }

    /// The fields of a native application alone.
    public struct Platforms: Sendable, Hashable {
        /// Its apps of Apple's platforms.
        public var appleApps: FormLines
        /// Its apps of Android.
        public var androidApps: FormLines

        /// Makes fields.
        public init(appleApps: FormLines, androidApps: FormLines) {
            self.appleApps = appleApps
            self.androidApps = androidApps
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// The application that is changed; nil for a new one.
    public var application: ApplicationSummary?
    /// The pages about it; nil for a new one.
    public var paths: ApplicationPaths?
    /// The type, as it is sent.
    public var type: String
    /// What the type is called.
    public var typeName: String
    /// What is wrong, over all fields.
    public var problems: [FormProblem]
    /// Where the form goes.
    public var action: String
    /// The proof of the form.
    public var ticket: String
    /// The revision that is changed.
    public var revision: Int
    /// The name.
    public var name: FormField
    /// The publisher.
    public var publisher: FormField
    /// The addresses, where the type has some.
    public var addresses: Addresses?
    /// The apps, where the type has some.
    public var platforms: Platforms?
    /// The origins, where the type has some.
    public var origins: FormLines?
    /// The scopes.
    public var scopes: [ScopeChoice]
    /// What is wrong with the scopes.
    public var scopeProblem: String?
    /// The words on the consent page.
    public var consentText: FormField
    /// The privacy policy.
    public var privacyURI: FormField
    /// The terms.
    public var termsURI: FormField
    /// Where nothing is changed.
    public var cancelPath: String
    /// The keys with which it authenticates, where the type can have some.
    public var keys: FormField?

    /// Whether the type is one for which people are asked for consent.
    public let asksPeople: Bool
    /// Whether it is native.
    public let isNative: Bool
    /// Whether it is new and a secret will be shown once.
    public let getsSecret: Bool

    /// Makes a form.
    public init(
        console: ConsoleHead, application: ApplicationSummary? = nil, paths: ApplicationPaths? = nil, type: String,
        typeName: String, problems: [FormProblem] = [], action: String, ticket: String, revision: Int = 0,
        name: FormField,
        publisher: FormField, addresses: Addresses? = nil, platforms: Platforms? = nil, origins: FormLines? = nil,
        scopes: [ScopeChoice], scopeProblem: String? = nil, consentText: FormField, privacyURI: FormField,
        termsURI: FormField, cancelPath: String, keys: FormField? = nil
    ) {
        self.console = console
        self.application = application
        self.paths = paths
        self.type = type
        self.typeName = typeName
        self.problems = problems
        self.action = action
        self.ticket = ticket
        self.revision = revision
        self.name = name
        self.publisher = publisher
        self.addresses = addresses
        self.platforms = platforms
        self.origins = origins
        self.scopes = scopes
        self.scopeProblem = scopeProblem
        self.consentText = consentText
        self.privacyURI = privacyURI
        self.termsURI = termsURI
        self.cancelPath = cancelPath
        self.keys = keys
        asksPeople = type != ClientType.service.rawValue
        isNative = type == ClientType.native.rawValue
        getsSecret = application == nil && ClientType(rawValue: type)?.isConfidential == true
    }
}
