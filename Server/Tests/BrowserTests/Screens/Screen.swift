/// A page, or a state of a page that looks different.
///
/// The raw value is the name of its screenshots.
enum Screen: String, CaseIterable, Sendable {
    // From a client.
    case signIn = "sign-in"
    case signInAgain = "sign-in-again"
    case consent
    case consentAgain = "consent-again"
    case signInEarlier = "sign-in-earlier"
    case webView = "web-view"
    case problem
    case problemForDeveloper = "problem-developer"
    case consentUnverified = "consent-unverified"
    case `continue`
    case proceed = "go-on"
    case goOnChoice = "go-on-choice"
    case goOnPosted = "go-on-posted"
    case consentLocalhost = "consent-localhost"
    case signInWebView = "sign-in-web-view"
    case appLink = "app-link"
    case signOut = "sign-out"
    case signedOut = "signed-out"

    // On another device.
    case deviceCode = "device-code"
    case deviceCodeAgain = "device-code-again"
    case deviceCodeFilled = "device-code-filled"
    case deviceCodeTooMany = "device-code-too-many"
    case deviceConsent = "device-consent"
    case deviceConsentUnverified = "device-consent-unverified"
    case deviceApproved = "device-approved"
    case deviceDenied = "device-denied"
    case deviceOver = "device-over"

    // First start and console sign-in.
    case setup
    case setupAgain = "setup-again"
    case setupDone = "setup-done"
    case consoleSignIn = "console-sign-in"
    case consoleSignInWebView = "console-sign-in-web-view"
    case consoleSignInAgain = "console-sign-in-again"
    case passkeyOffer = "passkey-offer"

    // The second factor.
    case codeSetup = "code-setup"
    case recoveryCodes = "recovery-codes"
    case code
    case secondFactor = "account-second-factor"

    // The way back into an account.
    case recovery
    case recoverySent = "recovery-sent"
    case newPassword = "new-password"
    // Accounts that persons create.
    case signUp = "sign-up"
    case signUpAgain = "sign-up-again"
    case signUpSent = "sign-up-sent"
    case newAccount = "new-account"
    case newAccountAgain = "new-account-again"
    case terms

    // Developer pages.
    case clientsNone = "apps-none"
    case clientTypes = "app-types"
    case newClient = "app-new"
    case newClientProblems = "app-new-problems"
    case client = "app"
    case editClient = "app-edit"
    case connect = "app-connect"
    case logo = "app-logo"
    case association = "app-association"
    case associationFindings = "app-association-findings"
    case deleteClient = "app-delete"
    case secrets = "app-secrets"
    case secretRemoval = "app-secrets-remove"
    case developers = "app-developers"
    case clients = "apps"
    case availableAPIs = "apps-apis"

    // Administration pages.
    case overview = "admin"
    case administration = "admin-apps"
    case users = "admin-users"
    case usersFiltered = "admin-users-filter"
    case invitations = "admin-users-invitations"
    case newUser = "admin-users-new"
    case newUserProblems = "admin-users-new-problems"
    case user = "admin-user"
    case userAttributes = "admin-user-claims"
    case userAttributesProblems = "admin-user-claims-problems"
    case deleteUser = "admin-user-delete"
    case policy = "app-policy"
    case decision = "app-approval"
    case suspension = "app-suspended"
    case danger = "app-danger"
    case branding = "admin-branding"
    case mailPreview = "admin-mail"
    case audit = "admin-audit"
    case unregisteredPolicy = "admin-unregistered-policy"
    case unregisteredPolicyProblems = "admin-unregistered-policy-problems"
    case unregisteredClients = "admin-unregistered"
    case unregisteredFamily = "admin-unregistered-host"
    case unregisteredClient = "admin-unregistered-app"
    case scopes = "admin-scopes"
    case newScope = "admin-scope-new"
    case newScopeProblems = "admin-scope-new-problems"
    case editScope = "admin-scope-edit"
    case deleteScope = "admin-scope-delete"
    case apis = "admin-apis"
    case newAPI = "admin-api-new"
    case newAPIProblems = "admin-api-new-problems"
    case apiSecret = "admin-api-secret"
    case editAPI = "admin-api-edit"
    case deleteAPI = "admin-api-delete"
    case server = "admin-server"
    case certificate = "admin-certificate"
    case serverSettings = "admin-settings"
    case keys = "admin-keys"
    case rotateKey = "admin-key-rotate"
    case withdrawKey = "admin-key-withdraw"
    case registrationTokens = "admin-registration-tokens"
    case testMail = "admin-mail-test"
    case webhooks = "admin-webhooks"
    case newWebhook = "admin-webhook-new"
    case newWebhookProblems = "admin-webhook-new-problems"
    case webhook = "admin-webhook"
    case editWebhook = "admin-webhook-edit"
    case deleteWebhook = "admin-webhook-delete"
    case notFound = "not-found"

    // Account pages.
    case accountNone = "account-none"
    case account
    case connectedClient = "account-apps"
    case sessions = "account-sessions"
    case passkeysNone = "account-passkeys-none"
    case passkeys = "account-passkeys"
    case signInConfirming = "sign-in-confirming"
    case email = "account-email"
    case activity = "account-activity"
    case password = "account-password"
    case passwordProblems = "account-password-problems"

    /// The walk that visits the screen.
    var walk: Walk {
        switch self {
        case .signIn, .signInAgain, .consent, .consentAgain, .signInEarlier, .webView, .problem,
            .problemForDeveloper:
            .usualWay
        case .consentUnverified, .continue, .proceed, .goOnChoice, .goOnPosted, .consentLocalhost, .signInWebView,
            .appLink,
            .signOut, .signedOut:
            .otherWays
        case .deviceCode, .deviceCodeAgain, .deviceCodeFilled, .deviceCodeTooMany, .deviceConsent,
            .deviceConsentUnverified, .deviceApproved, .deviceDenied, .deviceOver:
            .device
        case .setup, .setupAgain, .setupDone: .firstStart
        case .codeSetup, .recoveryCodes, .code, .secondFactor: .secondStep
        case .recovery, .recoverySent, .newPassword: .recovery
        case .signUp, .signUpAgain, .signUpSent, .newAccount, .newAccountAgain, .terms: .signUp
        case .consoleSignIn, .consoleSignInWebView, .consoleSignInAgain, .passkeyOffer: .door
        case .clientsNone, .clientTypes, .newClient, .newClientProblems, .client,
            .editClient, .connect, .logo, .association, .associationFindings, .deleteClient, .secrets,
            .secretRemoval, .developers, .clients, .availableAPIs:
            .developer
        case .overview, .administration, .users, .usersFiltered, .invitations, .newUser, .newUserProblems, .user,
            .userAttributes, .userAttributesProblems, .deleteUser, .policy, .decision, .suspension, .danger, .branding,
            .mailPreview, .audit, .unregisteredPolicy,
            .unregisteredPolicyProblems, .unregisteredClients, .unregisteredFamily, .unregisteredClient, .notFound,
            .scopes, .newScope, .newScopeProblems, .editScope, .deleteScope, .apis, .newAPI, .newAPIProblems,
            .apiSecret, .editAPI, .deleteAPI, .server, .certificate, .serverSettings, .keys, .rotateKey, .withdrawKey,
            .registrationTokens, .testMail, .webhooks, .newWebhook, .newWebhookProblems, .webhook, .editWebhook,
            .deleteWebhook:
            .administrator
        case .accountNone, .account, .connectedClient, .sessions, .passkeysNone, .passkeys, .signInConfirming,
            .email, .activity, .password, .passwordProblems:
            .account
        }
    }

    /// The page of the screen.
    var page: PageKind {
        switch self {
        case .signIn, .signInAgain, .signInEarlier, .signInConfirming, .signInWebView, .consoleSignIn,
            .consoleSignInWebView,
            .consoleSignInAgain:
            .signIn
        case .consent, .consentAgain, .consentUnverified, .consentLocalhost, .deviceConsent, .deviceConsentUnverified:
            .consent
        case .deviceCode, .deviceCodeAgain, .deviceCodeFilled, .deviceCodeTooMany: .deviceCode
        case .deviceApproved, .deviceDenied, .deviceOver: .deviceDone
        case .continue: .continue
        case .proceed, .goOnChoice, .goOnPosted: .proceed
        case .webView: .webView
        case .appLink: .appLink
        case .signOut: .signOut
        case .signedOut: .signedOut
        case .problem, .problemForDeveloper, .notFound: .problem
        case .setup, .setupAgain: .setup
        case .setupDone: .setupDone
        case .codeSetup: .codeSetup
        case .signUp, .signUpAgain: .signUp
        case .signUpSent: .signUpSent
        case .newAccount, .newAccountAgain: .newAccount
        case .terms: .terms
        case .passkeyOffer: .passkeyOffer
        case .recoveryCodes: .recoveryCodes
        case .code: .code
        case .secondFactor: .secondFactor
        case .recovery: .recovery
        case .recoverySent: .recoverySent
        case .newPassword: .newPassword
        case .clientsNone, .clients: .clients
        case .clientTypes: .clientTypes
        case .newClient, .newClientProblems, .editClient: .clientForm
        case .client, .danger: .client
        case .connect: .connect
        case .logo: .logo
        case .association, .associationFindings: .association
        case .deleteClient: .deleteClient
        case .secrets, .secretRemoval: .secrets
        case .developers: .developers
        case .overview: .overview
        case .administration: .administration
        case .users, .usersFiltered: .users
        case .invitations: .invitations
        case .newUser, .newUserProblems: .newUser
        case .user: .user
        case .userAttributes, .userAttributesProblems: .userAttributes
        case .deleteUser: .deleteUser
        case .policy: .policy
        case .decision, .suspension: .decision
        case .branding: .branding
        case .mailPreview: .mailPreview
        case .audit: .audit
        case .unregisteredPolicy, .unregisteredPolicyProblems: .unregisteredPolicy
        case .unregisteredClients: .unregisteredClients
        case .unregisteredFamily: .unregisteredFamily
        case .unregisteredClient: .unregisteredClient
        case .scopes: .scopes
        case .newScope, .newScopeProblems, .editScope: .scopeForm
        case .apis: .apis
        case .newAPI, .newAPIProblems, .editAPI: .apiForm
        case .apiSecret: .api
        case .deleteScope, .deleteAPI, .deleteWebhook: .deleteRecord
        case .webhooks: .webhooks
        case .newWebhook, .newWebhookProblems, .editWebhook: .webhookForm
        case .webhook: .webhook
        case .availableAPIs: .availableAPIs
        case .server: .server
        case .certificate: .certificate
        case .serverSettings: .serverSettings
        case .keys: .keys
        case .rotateKey, .withdrawKey: .changeKey
        case .registrationTokens: .registrationTokens
        case .testMail: .testMail
        case .accountNone, .account: .account
        case .connectedClient: .connectedClient
        case .sessions: .sessions
        case .passkeysNone, .passkeys: .passkeys
        case .email: .email
        case .activity: .activity
        case .password, .passwordProblems: .password
        }
    }

    /// The names of the screenshots.
    var pictures: [String] { Viewport.all.map { "\(rawValue)-\($0.suffix)" } }
}
