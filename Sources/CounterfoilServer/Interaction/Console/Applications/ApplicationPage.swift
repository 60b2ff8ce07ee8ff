/// What is registered of an application.
public struct ApplicationPage: Sendable, Hashable {
    /// A redirect URI with what will and will not match it.
    public struct Address: Sendable, Hashable {
        /// As it is registered.
        public var uri: String
        /// What kind it is, in words.
        public var kind: String
        /// What there is to know about it.
        public var notes: [String]
        /// What is unwise about it.
        public var warnings: [String]
        /// Addresses that a request could name, and whether they match.
        public var examples: [Example]

        /// Makes an address.
        public init(
            uri: String, kind: String, notes: [String] = [], warnings: [String] = [], examples: [Example]
        ) {
            self.uri = uri
            self.kind = kind
            self.notes = notes
            self.warnings = warnings
            self.examples = examples
        }
    }

    /// An address that a request could name.
    public struct Example: Sendable, Hashable {
        /// The address.
        public var uri: String
        /// Whether it matches.
        public var matches: Bool
        /// Why, in a sentence.
        public var why: String

        /// Makes an example.
        public init(uri: String, matches: Bool, why: String) {
            self.uri = uri
            self.matches = matches
            self.why = why
        }
    }

    /// A permission that it may ask for.
    public struct Permission: Sendable, Hashable {
        /// The scope.
        public var name: String
        /// What it allows.
        public var description: String
        /// Whether a person may leave it out.
        public var isOptional: Bool

        /// Makes a permission.
        public init(name: String, description: String, isOptional: Bool) {
            self.name = name
            self.description = description
            self.isOptional = isOptional
        }
    }

    /// An address that somebody has tried, with the verdict of the matcher.
    public struct Trial: Sendable, Hashable {
        /// Where the form goes; a GET with `uri`.
        public var action: String
        /// What was typed.
        public var uri: String
        /// Whether it matches; nil when nothing was typed.
        public var matches: Bool?
        /// Why, in a sentence.
        public var why: String?

        /// Makes a trial.
        public init(action: String, uri: String = "", matches: Bool? = nil, why: String? = nil) {
            self.action = action
            self.uri = uri
            self.matches = matches
            self.why = why
        }
    }

    /// One line of the policy.
    public struct PolicyLine: Sendable, Hashable {
        /// What it is about.
        public var name: String
        /// What is decided.
        public var value: String

        /// Makes a line.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Where everything about it can be changed.
    public struct Paths: Sendable, Hashable {
        /// What is registered.
        public var edit: String
        /// The picture.
        public var logo: String
        /// How to connect it.
        public var connect: String
        /// Its policy; nil for who is no administrator.
        public var policy: String?
        /// Its secrets; nil for an application that has none.
        public var secrets: String?
        /// Whether foreign hosts name it; nil for an application that claims nothing.
        public var association: String?
        /// Its end.
        public var delete: String
        /// The list.
        public var applications: String

        /// Makes addresses.
        public init(
            edit: String, logo: String, connect: String, policy: String? = nil, secrets: String? = nil,
            association: String? = nil, delete: String, applications: String
        ) {
            self.edit = edit
            self.logo = logo
            self.connect = connect
            self.policy = policy
            self.secrets = secrets
            self.association = association
            self.delete = delete
            self.applications = applications
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened.
    public var notice: String?
    /// The application.
    public var application: ApplicationSummary
    /// Its redirect URIs.
    public var addresses: [Address]
    /// Trying an address; nil for an application without redirect URIs.
    public var trial: Trial?
    /// Its origins.
    public var origins: [String]
    /// Its apps, of both platforms.
    public var apps: [String]
    /// What it may ask for.
    public var permissions: [Permission]
    /// Its words on the consent page, as they will be shown; nil for none.
    public var consentText: SafeHTML?
    /// Its privacy policy and its terms, with their addresses.
    public var links: [PolicyLine]
    /// What the administrator has decided.
    public var policy: [PolicyLine]
    /// That it is served under an exception from PKCE, how often and when last, in a sentence; nil when it is not.
    public var pkceDanger: String?
    /// When it was registered, and by whom where that is known, in a sentence.
    public var registered: String
    /// Where everything can be changed.
    public var paths: Paths

    /// Makes a page.
    public init(
        console: ConsoleHead, notice: String? = nil, application: ApplicationSummary, addresses: [Address],
        trial: Trial? = nil, origins: [String] = [], apps: [String] = [], permissions: [Permission],
        consentText: SafeHTML? = nil, links: [PolicyLine] = [], policy: [PolicyLine],
        pkceDanger: String? = nil, registered: String, paths: Paths
    ) {
        self.console = console
        self.notice = notice
        self.application = application
        self.addresses = addresses
        self.trial = trial
        self.origins = origins
        self.apps = apps
        self.permissions = permissions
        self.consentText = consentText
        self.links = links
        self.policy = policy
        self.pkceDanger = pkceDanger
        self.registered = registered
        self.paths = paths
    }
}
