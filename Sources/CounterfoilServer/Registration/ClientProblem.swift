/// An error in one field of a client's registration.
package struct ClientProblem: Sendable, Hashable {
    /// The field with the error.
    package let field: ClientField
    /// The error and its remedy.
    package let text: LocalizedText

    /// Creates a problem.
    package init(_ field: ClientField, _ error: some Localized) {
        self.field = field
        text = error.text
    }

    package init(_ field: ClientField, _ reason: Reason, _ values: [String: LocalizedText.Value] = [:]) {
        self.init(field, LocalizedText(reason, values))
    }
}

/// All errors of a client's registration together.
package struct ClientRegistrationRefusal: Error, Sendable, Hashable {
    /// The problems in the order of the fields; never empty.
    package let problems: [ClientProblem]

    /// Creates a refusal.
    package init(_ problems: [ClientProblem]) { self.problems = problems }
}

extension ClientProblem {
    /// The reason why a registration is refused.
    package enum Reason: String, LocalizationKey, Error {
        /// The name is missing or too long.
        case nameLength = "application.name-length"
        /// The letters of a name have too many combining marks.
        case tooManyMarks = "application.too-many-marks"
        /// The publisher is too long.
        case publisherLength = "application.publisher-length"
        /// A name contains control characters.
        case controlCharacters = "application.control-characters"
        /// The URL of a page is invalid.
        case notAnAddress = "application.not-an-address"
        /// There is no redirect URI.
        case redirectURIMissing = "application.redirect-uri-missing"
        /// There are redirect URIs, and clients of this type have none.
        case redirectURINotUsed = "application.redirect-uri-not-used"
        /// There are too many redirect URIs.
        case tooManyRedirectURIs = "application.too-many-redirect-uris"
        /// A redirect URI is listed twice.
        case redirectURITwice = "application.redirect-uri-twice"
        /// A redirect URI is refused; place `why` has the reason.
        case redirectURIRefused = "application.redirect-uri-refused"
        /// A text is not the name of a scope.
        case notAScope = "application.not-a-scope"
        /// A scope does not exist.
        case unknownScope = "application.unknown-scope"
        /// There are too many scopes.
        case tooManyScopes = "application.too-many-scopes"
        /// Some lines are refused; each has its own message.
        case linesRefused = "application.lines-refused"
        /// An optional scope is not one of the client's scopes.
        case optionalNotAssigned = "application.optional-not-assigned"
        /// `openid` cannot be optional.
        case openIDNotOptional = "application.openid-not-optional"
        /// There are origins, and clients of this type have none.
        case originsNotUsed = "application.origins-not-used"
        /// There are too many origins.
        case tooManyOrigins = "application.too-many-origins"
        /// A text is not an origin.
        case notAnOrigin = "application.not-an-origin"
        /// There are apps, and clients of this type have none.
        case appsNotUsed = "application.apps-not-used"
        /// There are too many apps.
        case tooManyApps = "application.too-many-apps"
        /// A text is not the identifier of an app on Apple's platforms.
        case notAnAppleApp = "application.not-an-apple-app"
        /// A text does not identify an Android app.
        case notAnAndroidApp = "application.not-an-android-app"
        /// There are keys, and clients of this type have none.
        case keysNotUsed = "application.keys-not-used"
        /// A text is not a JSON Web Key Set.
        case notAKeySet = "application.not-a-key-set"
        /// There are too many keys.
        case tooManyKeys = "application.too-many-keys"
        /// A key is private or cannot be used here.
        case unusableKey = "application.unusable-key"
        /// A developer changed the redirect URIs' host, on which the pairwise subject identifiers depend.
        case hostOfNames = "application.host-of-names"
        /// There is no claimed https redirect URI to verify.
        case nothingClaimed = "application.nothing-claimed"
        /// A text is not a PKCE policy.
        case notAPKCEPolicy = "application.not-a-pkce-policy"
        /// A text is not a date.
        case notADay = "application.not-a-day"
        /// The last day of an exemption is in the past.
        case exemptionOver = "application.exemption-over"
        /// A text is not a policy for refresh tokens.
        case notARefreshTokenPolicy = "application.not-a-refresh-token-policy"
        /// A text is not a policy for web-views.
        case notAWebViewPolicy = "application.not-a-web-view-policy"
        /// A text is not a signature algorithm of this server.
        case notAnAlgorithm = "application.not-an-algorithm"
        /// There are redirect URIs after sign-out, and clients of this type sign no user in.
        case postLogoutNotUsed = "application.post-logout-not-used"
        /// There is a back-channel logout URI, and clients of this type sign no user in.
        case backchannelNotUsed = "application.backchannel-not-used"
        /// A text is not a back-channel logout URI.
        case notABackchannelURI = "application.not-a-backchannel-uri"
        /// A text is not a subject type.
        case notASubjectType = "application.not-a-subject-type"
        /// A text is not a valid lifetime; places `least` and `most`.
        case notALifetime = "application.not-a-lifetime"
        /// A text is not a valid duration for refresh tokens; places `least` and `most`.
        case notARefreshTime = "application.not-a-refresh-time"
        /// A text is not a rotation setting.
        case notARotation = "application.not-a-rotation"
        /// Rotation is off, and a public client requires it.
        case rotationNeeded = "application.rotation-needed"
        /// Scopes without a user are approved, and the client is not a service.
        case machineScopeNotUsed = "application.machine-scope-not-used"
        /// A scope approved without a user is not registered for the client.
        case machineScopeNotRegistered = "application.machine-scope-not-registered"
        /// A scope approved without a user needs a user.
        case machineScopeNeedsUser = "application.machine-scope-needs-user"
        /// A text is not a client type.
        case notAType = "application.not-a-type"
        /// The developer has reached the limit of clients.
        case tooManyApplications = "application.too-many-applications"
        /// Another change was saved meanwhile.
        case changedMeanwhile = "application.changed-meanwhile"
        /// The page was open for too long.
        case pageExpired = "application.page-expired"
    }
}
