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
    public struct Example: Sendable, Hashable, Encodable {
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

        init(_ example: RedirectURIPreview.Example, words: Words) {
            self.init(uri: example.uri, matches: example.matches, why: words(example.why))
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
        /// Whether a service waits for an administrator to approve it.
        public var isPending: Bool

        /// Makes a permission.
        public init(name: String, description: String, isOptional: Bool, isPending: Bool = false) {
            self.name = name
            self.description = description
            self.isOptional = isOptional
            self.isPending = isPending
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
        /// The registered address that is most like it, where none matches.
        public var nearest: String?
        /// In what it differs from that, a sentence each.
        public var differences: [String]

        /// Makes a trial.
        public init(
            action: String, uri: String = "", matches: Bool? = nil, why: String? = nil, nearest: String? = nil,
            differences: [String] = []
        ) {
            self.action = action
            self.uri = uri
            self.matches = matches
            self.why = why
            self.nearest = nearest
            self.differences = differences
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

    /// How often something has happened, and what that means.
    public struct Happening: Sendable, Hashable {
        /// What has happened.
        public var name: String
        /// How often, in words.
        public var count: String
        /// What it means for people, in a sentence or two.
        public var meaning: String

        /// Makes a line.
        public init(_ name: String, count: String, meaning: String) {
            self.name = name
            self.count = count
            self.meaning = meaning
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
    /// What has become of its refresh tokens; empty for an application that never had one.
    public var refreshes: [Happening]
    /// What keeps PKCE from protecting its people, an exception or a challenge that is used again, in sentences; nil for nothing.
    public var pkceDanger: String?
    /// When it was registered, and by whom where that is known, in a sentence.
    public var registered: String
    /// The pages about it.
    public var paths: ApplicationPaths
    /// How it authenticates, in the names of `token_endpoint_auth_method` (RFC 7591 §2).
    public var authentication: String
    /// Which scopes wait for an administrator, in a sentence; nil when none does.
    public var pendingMachineScope: String?

    /// Makes a page.
    public init(
        console: ConsoleHead, notice: String? = nil, application: ApplicationSummary, addresses: [Address],
        trial: Trial? = nil, origins: [String] = [], apps: [String] = [], permissions: [Permission],
        consentText: SafeHTML? = nil, links: [PolicyLine] = [], policy: [PolicyLine],
        refreshes: [Happening] = [], pkceDanger: String? = nil, registered: String, paths: ApplicationPaths,
        authentication: String = "none", pendingMachineScope: String? = nil
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
        self.refreshes = refreshes
        self.pkceDanger = pkceDanger
        self.registered = registered
        self.paths = paths
        self.authentication = authentication
        self.pendingMachineScope = pendingMachineScope
    }
}
