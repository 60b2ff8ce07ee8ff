/// What can be wrong with an application that somebody registers.
public enum ApplicationPhrase: String, Phrase {
    /// The name is missing or too long.
    case nameLength = "application.name-length"
    /// The letters of a name carry too many marks.
    case tooManyMarks = "application.too-many-marks"
    /// The publisher is too long.
    case publisherLength = "application.publisher-length"
    /// A name holds control characters.
    case controlCharacters = "application.control-characters"
    /// A page's address is none.
    case notAnAddress = "application.not-an-address"
    /// There is no redirect URI.
    case redirectURIMissing = "application.redirect-uri-missing"
    /// There is one, and the type has none.
    case redirectURINotUsed = "application.redirect-uri-not-used"
    /// There are too many.
    case tooManyRedirectURIs = "application.too-many-redirect-uris"
    /// One is there twice.
    case redirectURITwice = "application.redirect-uri-twice"
    /// One is refused.
    case redirectURIRefused = "application.redirect-uri-refused"
    /// A text is not the name of a scope.
    case notAScope = "application.not-a-scope"
    /// A scope does not exist.
    case unknownScope = "application.unknown-scope"
    /// There are too many scopes.
    case tooManyScopes = "application.too-many-scopes"
    /// Some lines are refused, and say so themselves.
    case linesRefused = "application.lines-refused"
    /// A scope that may be left out is not one of its scopes.
    case optionalNotAssigned = "application.optional-not-assigned"
    /// `openid` cannot be left out.
    case openIDNotOptional = "application.openid-not-optional"
    /// There are origins, and the type has none.
    case originsNotUsed = "application.origins-not-used"
    /// There are too many origins.
    case tooManyOrigins = "application.too-many-origins"
    /// A text is not an origin.
    case notAnOrigin = "application.not-an-origin"
    /// There are apps, and the type has none.
    case appsNotUsed = "application.apps-not-used"
    /// There are too many apps.
    case tooManyApps = "application.too-many-apps"
    /// A text is no app of Apple's platforms.
    case notAnAppleApp = "application.not-an-apple-app"
    /// A text is no app of Android.
    case notAnAndroidApp = "application.not-an-android-app"
    /// There are keys, and the type has none.
    case keysNotUsed = "application.keys-not-used"
    /// A text is no set of keys.
    case notAKeySet = "application.not-a-key-set"
    /// There are too many keys.
    case tooManyKeys = "application.too-many-keys"
    /// A key is private, or of no use here.
    case unusableKey = "application.unusable-key"
    /// With other addresses people would be known by other names.
    case hostOfNames = "application.host-of-names"
    /// Nothing is claimed that could be verified.
    case nothingClaimed = "application.nothing-claimed"
    /// A text is no PKCE policy.
    case notAPKCEPolicy = "application.not-a-pkce-policy"
    /// A text is no day.
    case notADay = "application.not-a-day"
    /// The day of an exemption is over.
    case exemptionOver = "application.exemption-over"
    /// A text is no policy for refresh tokens.
    case notARefreshTokenPolicy = "application.not-a-refresh-token-policy"
    /// A text is no policy for web-views.
    case notAWebViewPolicy = "application.not-a-web-view-policy"
    /// A text is no algorithm of this server.
    case notAnAlgorithm = "application.not-an-algorithm"
    /// There is an address for after signing out, and the type signs nobody in.
    case postLogoutNotUsed = "application.post-logout-not-used"
    /// There is an address to be told of sign-outs, and the type signs nobody in.
    case backchannelNotUsed = "application.backchannel-not-used"
    /// A text is no address to be told of sign-outs.
    case notABackchannelURI = "application.not-a-backchannel-uri"
    /// A text is no subject type.
    case notASubjectType = "application.not-a-subject-type"
    /// A text is no lifetime; places `least` and `most`.
    case notALifetime = "application.not-a-lifetime"
    /// A text is no time of refresh tokens; places `least` and `most`.
    case notARefreshTime = "application.not-a-refresh-time"
    /// A text does not say whether refresh tokens are replaced.
    case notARotation = "application.not-a-rotation"
    /// An application without a secret keeps its refresh tokens.
    case rotationNeeded = "application.rotation-needed"
    /// Scopes without a user are approved, and the type acts for users.
    case machineScopeNotUsed = "application.machine-scope-not-used"
    /// A scope without a user is approved that is not registered.
    case machineScopeNotRegistered = "application.machine-scope-not-registered"
    /// A scope is approved that means nothing without a user.
    case machineScopeNeedsUser = "application.machine-scope-needs-user"
    /// A text is no type.
    case notAType = "application.not-a-type"
    /// The developer has as many applications as one may have.
    case tooManyApplications = "application.too-many-applications"
    /// Somebody else has changed it meanwhile.
    case changedMeanwhile = "application.changed-meanwhile"
    /// The page was open for too long.
    case pageExpired = "application.page-expired"
}
