package import CounterfoilServer

/// What is registered of an application.
package struct ApplicationPage: ConsolePage, Hashable {
    package static let template = "application"

    /// A redirect URI with what will and will not match it.
    package struct Address: Sendable, Hashable {
        /// As it is registered.
        package var uri: String
        /// What kind it is, in words.
        package var kind: String
        /// What there is to know about it.
        package var notes: [String] = []
        /// What is unwise about it.
        package var warnings: [String] = []
        /// Addresses that a request could name, and whether they match.
        package var examples: [Example]
    }

    /// An address that a request could name.
    package struct Example: Sendable, Hashable, Encodable {
        /// The address.
        package var uri: String
        /// Whether it matches.
        package var matches: Bool
        /// Why, in a sentence.
        package var why: String
    }

    /// A permission that it may ask for.
    package struct Permission: Sendable, Hashable {
        /// The scope.
        package var name: String
        /// What it allows.
        package var description: String
        /// Whether a person may leave it out.
        package var isOptional: Bool
        /// Whether a service waits for an administrator to approve it.
        package var isPending: Bool = false
    }

    /// An address that somebody has tried, with the verdict of the matcher.
    package struct Trial: Sendable, Hashable {
        /// Where the form goes; a GET with `uri`.
        package var action: String
        /// What was typed.
        package var uri: String = ""
        /// Whether it matches; nil when nothing was typed.
        package var matches: Bool?
        /// Why, in a sentence.
        package var why: String?
        /// The registered address that is most like it, where none matches.
        package var nearest: String?
        /// In what it differs from that, a sentence each.
        package var differences: [String] = []
    }

    /// One line of the policy.
    package struct PolicyLine: Sendable, Hashable {
        /// What it is about.
        package var name: String
        /// What is decided.
        package var value: String

        /// Makes a line.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How often something has happened, and what that means.
    package struct Happening: Sendable, Hashable {
        /// What has happened.
        package var name: String
        /// How often, in words.
        package var count: String
        /// What it means for people, in a sentence or two.
        package var meaning: String

        /// Makes a line.
        package init(_ name: String, count: String, meaning: String) {
            self.name = name
            self.count = count
            self.meaning = meaning
        }
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened.
    package var notice: String?
    /// The application.
    package var application: ApplicationSummary
    /// Its redirect URIs.
    package var addresses: [Address]
    /// Trying an address; nil for an application without redirect URIs.
    package var trial: Trial?
    /// Its origins.
    package var origins: [String] = []
    /// Its apps, of both platforms.
    package var apps: [String] = []
    /// What it may ask for.
    package var permissions: [Permission]
    /// Its words on the consent page, as they will be shown; nil for none.
    package var consentText: SafeHTML?
    /// Its privacy policy and its terms, with their addresses.
    package var links: [PolicyLine] = []
    /// What the administrator has decided.
    package var policy: [PolicyLine]
    /// What has become of its refresh tokens; empty for an application that never had one.
    package var refreshes: [Happening] = []
    /// What keeps PKCE from protecting its people, an exception or a challenge that is used again, in sentences; nil for nothing.
    package var pkceDanger: String?
    /// When it was registered, and by whom where that is known, in a sentence.
    package var registered: String
    /// The pages about it.
    package var paths: ApplicationPaths
    /// How it authenticates, in the names of `token_endpoint_auth_method` (RFC 7591 §2).
    package var authentication: String = "none"
    /// Which scopes wait for an administrator, in a sentence; nil when none does.
    package var pendingMachineScope: String?
}

extension ApplicationPage.Example {
    init(_ example: RedirectURIPreview.Example, words: Words) {
        self.init(uri: example.uri, matches: example.matches, why: words(example.why))
    }
}
