package import CounterfoilServer

/// The overview of a registered client.
package struct ClientPage: ConsolePage, Hashable {
    package static let template = "application"

    /// A registered redirect URI, with examples of redirect URIs that match it or do not.
    package struct Address: Sendable, Hashable {
        package var uri: String
        /// The kind of the URI, in words.
        package var kind: String
        package var notes: [String] = []
        package var warnings: [String] = []
        package var examples: [Example]
    }

    /// A redirect URI that a request could contain.
    package struct Example: Sendable, Hashable, Encodable {
        package var uri: String
        package var matches: Bool
        /// The reason why the URI matches or does not, in one sentence.
        package var why: String
    }

    package struct Permission: Sendable, Hashable {
        /// The scope token.
        package var name: String
        package var description: String
        /// Whether the user may decline the scope.
        package var isOptional: Bool
        /// Whether the scope awaits approval by an administrator (client credentials grant).
        package var isPending: Bool = false
    }

    /// A redirect URI that the user has tried, with the verdict.
    package struct TriedRedirectURI: Sendable, Hashable {
        /// The path that the form sends a GET request to, with `uri`.
        package var action: String
        /// The typed URI.
        package var uri: String = ""
        /// Whether the URI matches; nil if none was typed.
        package var matches: Bool?
        /// The reason why the typed URI matches or does not, in one sentence.
        package var why: String?
        /// The most similar registered URI; nil unless the typed URI was refused because it is not registered.
        package var nearest: String?
        /// The differences between the typed URI and `nearest`, one sentence each.
        package var differences: [String] = []
    }

    package struct PolicySetting: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A count from the refresh statistics, such as the number of reused tokens.
    package struct RefreshStatistic: Sendable, Hashable {
        package var name: String
        /// The number, in words.
        package var count: String
        /// The consequence for users, in one or two sentences.
        package var meaning: String

        package init(_ name: String, count: String, meaning: String) {
            self.name = name
            self.count = count
            self.meaning = meaning
        }
    }

    /// An origin of a single-page app.
    package struct Origin: Sendable, Hashable {
        package var text: String
        /// Whether the origin stands for every port of its host.
        package var isAnyPort: Bool
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    /// Whether the client has just been registered, so that the page leads to the values that connect it.
    package var isNew: Bool = false
    package var client: ClientSummary
    /// The time and the reason of the suspension, in sentences; nil if the client is not suspended.
    package var suspension: String?
    /// The users who can sign in before an administrator approves the client, in sentences; nil if every user can.
    package var waiting: String?
    package var addresses: [Address]
    /// The form that tries a redirect URI; nil for a client type without redirect URIs.
    package var trial: TriedRedirectURI?
    /// The origins of a single-page app.
    package var origins: [Origin] = []
    /// The identifiers of the Apple and Android apps.
    package var apps: [String] = []
    package var permissions: [Permission]
    /// The text as the consent page shows it; nil if there is none.
    package var consentText: SafeHTML?
    /// The URLs of the privacy policy and the terms.
    package var links: [PolicySetting] = []
    package var policy: [PolicySetting]
    /// The statistics of refresh tokens; empty if the client gets no refresh tokens and has no counts.
    package var refreshes: [RefreshStatistic] = []
    /// Sentences about a PKCE exception in the policy, the use of a current or earlier exception, and a code challenge
    /// that the client reused; nil if there is none of these.
    package var pkceDanger: String?
    /// The day of the registration and, if known, the owner, in one sentence.
    package var registered: String
    /// The use of the client; nil for a service.
    package var use: ClientSummary.Use?
    /// The users who manage the client with its owner.
    package var developers: [DisplayName] = []
    package var paths: ClientPaths
    /// The methods of client authentication, `token_endpoint_auth_method` (RFC 7591 §2).
    package var authentication: String = "none"
    /// The scopes that await approval by an administrator, in one sentence; nil if there is none.
    package var pendingMachineScope: String?
}

extension ClientPage.Example {
    init(_ example: RedirectURIPreview.Example, words: Localizer) {
        self.init(uri: example.uri, matches: example.matches, why: words(example.why))
    }
}
