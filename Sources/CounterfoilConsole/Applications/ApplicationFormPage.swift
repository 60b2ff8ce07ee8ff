import CounterfoilServer

/// The form in which an application is registered or changed.
package struct ApplicationFormPage: ConsolePage, Hashable {
    package static let template = "application-form"

    /// A scope that can be assigned.
    package struct ScopeChoice: Sendable, Hashable {
        /// Its name.
        package var name: String
        /// What it allows.
        package var description: String
        /// Whether the application may ask for it; sent as `scope`.
        package var isAssigned: Bool
        /// Whether a person may leave it out; sent as `optional_scope`.
        package var isOptional: Bool
        /// Whether it could be left out at all.
        package var canBeOptional: Bool = true
    }

    /// The fields of the three kinds of addresses that an application of a type has, none where it has none.
    package struct Addresses: Sendable, Hashable {
        /// Where answers may go.
        package var redirectURIs: FormLines
        /// Where live verdicts come from.
        package var verdictPath: String
        /// Where people may be sent after signing out.
        package var postLogoutRedirectURIs: FormLines
        /// Where the application is told that a session has ended.
        package var backchannelLogoutURI: FormField
    }

    /// The fields of a native application alone.
    package struct Platforms: Sendable, Hashable {
        /// Its apps of Apple's platforms.
        package var appleApps: FormLines
        /// Its apps of Android.
        package var androidApps: FormLines
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// The application that is changed; nil for a new one.
    package var application: ApplicationSummary?
    /// The pages about it; nil for a new one.
    package var paths: ApplicationPaths?
    /// The type, as it is sent.
    package var type: String
    /// What the type is called.
    package var typeName: String
    /// What is wrong, over all fields.
    package var problems: [FormProblem]
    /// Where the form goes.
    package var action: String
    /// The proof of the form.
    package var ticket: String
    /// The revision that is changed.
    package var revision: Int
    /// The name.
    package var name: FormField
    /// The publisher.
    package var publisher: FormField
    /// The addresses, where the type has some.
    package var addresses: Addresses?
    /// The apps, where the type has some.
    package var platforms: Platforms?
    /// The origins, where the type has some.
    package var origins: FormLines?
    /// The scopes.
    package var scopes: [ScopeChoice]
    /// What is wrong with the scopes.
    package var scopeProblem: String?
    /// The words on the consent page.
    package var consentText: FormField
    /// The privacy policy.
    package var privacyURI: FormField
    /// The terms.
    package var termsURI: FormField
    /// Where nothing is changed.
    package var cancelPath: String
    /// The keys with which it authenticates, where the type can have some.
    package var keys: FormField?

    /// Whether the type is one for which people are asked for consent.
    package let asksPeople: Bool
    /// Whether it is native.
    package let isNative: Bool
    /// Whether it is new and a secret will be shown once.
    package let getsSecret: Bool

    /// Makes a form.
    package init(
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
