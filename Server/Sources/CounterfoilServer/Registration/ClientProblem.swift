/// An error in one field of a client's registration or policy.
package struct ClientProblem: Sendable, Hashable {
    /// The field next to which forms show the error; `whole` if the error concerns no single field.
    package let field: ClientField
    /// The error and its remedy.
    package let text: LocalizedText

    package init(_ field: ClientField, _ error: some Localized) {
        self.field = field
        text = error.text
    }

    package init(_ field: ClientField, _ reason: Reason, _ values: [String: LocalizedText.Value] = [:]) {
        self.init(field, LocalizedText(reason, values))
    }
}

/// The error that ``ClientRules`` throws for an invalid registration or policy, with the problems of all fields.
package struct ClientRegistrationRefusal: Error, Sendable, Hashable {
    /// The problems in the order in which the fields were checked; never empty.
    package let problems: [ClientProblem]

    package init(_ problems: [ClientProblem]) { self.problems = problems }
}

extension ClientProblem {
    /// The reason of a problem; the raw value is the key of its message in the UI catalogue.
    package enum Reason: String, LocalizationKey, Error {
        /// The name has no visible character or more than 100 characters.
        case nameLength = "application.name-length"
        /// A name contains far more combining marks than letters.
        case tooManyMarks = "application.too-many-marks"
        /// The publisher's name has more than 100 characters.
        case publisherLength = "application.publisher-length"
        /// A name contains control characters.
        case controlCharacters = "application.control-characters"
        /// A name contains a host that is not the client's own (``NamedHosts``).
        case foreignHost = "application.foreign-host"
        /// A text is not the https URL of a page.
        case notAPageURL = "application.not-a-page-url"
        /// No redirect URI is entered, but clients of this type need one.
        case redirectURIMissing = "application.redirect-uri-missing"
        /// Redirect URIs are entered, but clients of this type cannot have any.
        case redirectURINotUsed = "application.redirect-uri-not-used"
        /// More redirect URIs are entered than ``RedirectURIRegistration/limit``.
        case tooManyRedirectURIs = "application.too-many-redirect-uris"
        /// A redirect URI is listed twice.
        case redirectURITwice = "application.redirect-uri-twice"
        /// A redirect URI is refused; the placeholder `why` has the reason.
        case redirectURIRefused = "application.redirect-uri-refused"
        /// A text has characters that the name of a scope cannot contain.
        case notAScope = "application.not-a-scope"
        /// A scope does not exist on this server.
        case unknownScope = "application.unknown-scope"
        /// The list of scopes has more than 100 entries or too many bytes (`Scope.tokenLimit`, `Scope.byteLimit`).
        case tooManyScopes = "application.too-many-scopes"
        /// Some lines of a list are refused; the form shows the reason next to each line.
        case linesRefused = "application.lines-refused"
        /// An optional scope is not among the scopes that the client may request.
        case optionalNotAssigned = "application.optional-not-assigned"
        /// The scope `openid` is entered as optional.
        case openIDNotOptional = "application.openid-not-optional"
        /// A developer added a scope that is reserved for approved clients.
        case reservedScope = "application.reserved-scope"
        /// More than ``RegisteredClient/testerLimit`` testers are entered.
        case tooManyTesters = "application.too-many-testers"
        /// A text cannot be a username.
        case notAUsername = "application.not-a-username"
        /// Web origins are entered, but only single-page apps have them.
        case originsNotUsed = "application.origins-not-used"
        /// More than 20 web origins are entered.
        case tooManyOrigins = "application.too-many-origins"
        /// A text is not a web origin: a scheme, a host and an optional port, in lower case and without a path.
        case notAnOrigin = "application.not-an-origin"
        /// Apps are entered, but only native clients have them.
        case appsNotUsed = "application.apps-not-used"
        /// More than 20 apps of one platform are entered.
        case tooManyApps = "application.too-many-apps"
        /// A text is not the application identifier of an app on Apple's platforms: team and bundle identifier.
        case notAnAppleApp = "application.not-an-apple-app"
        /// A text is not the package name of an Android app with a colon and the fingerprint of its certificate.
        case notAnAndroidApp = "application.not-an-android-app"
        /// Keys are entered, but clients of this type do not authenticate.
        case keysNotUsed = "application.keys-not-used"
        /// A text is not a JSON Web Key Set with at least one key.
        case notAKeySet = "application.not-a-key-set"
        /// A key set contains more than 10 keys.
        case tooManyKeys = "application.too-many-keys"
        /// A key set contains a private key, a key listed twice, or a key that this server does not support.
        case unusableKey = "application.unusable-key"
        /// A developer changed the host of the redirect URIs, on which the pairwise subject identifiers of the client
        /// depend. Only an administrator may change it.
        case hostOfSubjectIdentifiers = "application.host-of-subject-identifiers"
        /// The https redirect URIs are marked as verified, but the client is neither native nor a single-page app, or
        /// it has no https redirect URI.
        case nothingClaimed = "application.nothing-claimed"
        /// The client is marked as first-party, but it has a development redirect URI.
        case firstPartyInDevelopment = "application.first-party-in-development"
        case notAPKCEPolicy = "application.not-a-pkce-policy"
        /// A developer chose a PKCE policy that is an exception, which only an administrator can make.
        case unsafePKCEPolicy = "application.unsafe-pkce-policy"
        /// The PKCE policy accepts a nonce instead of PKCE, but clients of this type do not authenticate.
        case onlyS256 = "application.only-s256"
        /// The last day of a PKCE exemption is not a date.
        case notADay = "application.not-a-day"
        /// The last day of a PKCE exemption is in the past.
        case exemptionOver = "application.exemption-over"
        case notARefreshTokenPolicy = "application.not-a-refresh-token-policy"
        case notAWebViewPolicy = "application.not-a-web-view-policy"
        case notAnAuthentication = "application.not-an-authentication"
        /// A text is not an algorithm with which this server signs ID tokens.
        case notAnAlgorithm = "application.not-an-algorithm"
        /// A text is neither `true` nor `false`.
        case notAYesOrNo = "application.not-a-yes-or-no"
        /// Post-logout redirect URIs are entered, but clients of this type cannot have any.
        case postLogoutNotUsed = "application.post-logout-not-used"
        /// A back-channel logout URI is entered, but clients of this type cannot have one.
        case backchannelNotUsed = "application.backchannel-not-used"
        /// A text is not a valid back-channel logout URI: https, with a host name and without a fragment.
        case notABackchannelURI = "application.not-a-backchannel-uri"
        case notASubjectType = "application.not-a-subject-type"
        /// A text is not a valid lifetime of access tokens or ID tokens. The placeholders `least` and `most` contain
        /// the limits in seconds.
        case notALifetime = "application.not-a-lifetime"
        /// A text is not a valid lifetime or grace period of refresh tokens. The placeholders `least` and `most`
        /// contain the limits in seconds.
        case notARefreshTime = "application.not-a-refresh-time"
        /// The rotation of refresh tokens is neither `true` nor `false` nor empty.
        case notARotation = "application.not-a-rotation"
        /// The rotation of refresh tokens is turned off, but public clients need it (RFC 9700 §2.2.2).
        case rotationNeeded = "application.rotation-needed"
        /// The policy approves scopes for requests without a user, which only clients of type `service` can send.
        case machineScopeNotUsed = "application.machine-scope-not-used"
        /// For requests without a user, the policy approves a scope that is not registered for the client.
        case machineScopeNotRegistered = "application.machine-scope-not-registered"
        /// For requests without a user, the policy approves a scope that needs a user, such as `openid`.
        case machineScopeNeedsUser = "application.machine-scope-needs-user"
        case notAType = "application.not-a-type"
        /// The developer already has as many clients as `ServerSettings.clientsPerDeveloper` allows.
        case tooManyClients = "application.too-many-applications"
        /// The client was changed after the form was opened, so this form was not saved.
        case changedMeanwhile = "application.changed-meanwhile"
    }
}
