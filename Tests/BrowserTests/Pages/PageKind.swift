import CounterfoilServer

/// A ``Page`` without what stands on it.
enum PageKind: CaseIterable, Sendable {
    case signIn, consent, `continue`, goOn, signOut, signedOut, webView, appLink, problem, setup, setupDone
    case applications, applicationTypes, applicationForm, application, connect, secrets, deleteApplication
    case policy, logo, association, administration, branding, audit
    case account, connectedApplication, sessions, password

    /// There is no `default` here, so that a new page asks for a new case, and that for its ``Screen``.
    init(_ page: Page) {
        self =
            switch page {
            case .signIn: .signIn
            case .consent: .consent
            case .continue: .continue
            case .goOn: .goOn
            case .signOut: .signOut
            case .signedOut: .signedOut
            case .webView: .webView
            case .appLink: .appLink
            case .problem: .problem
            case .setup: .setup
            case .setupDone: .setupDone
            case .applications: .applications
            case .applicationTypes: .applicationTypes
            case .applicationForm: .applicationForm
            case .application: .application
            case .connect: .connect
            case .secrets: .secrets
            case .deleteApplication: .deleteApplication
            case .policy: .policy
            case .logo: .logo
            case .association: .association
            case .administration: .administration
            case .branding: .branding
            case .audit: .audit
            case .account: .account
            case .connectedApplication: .connectedApplication
            case .sessions: .sessions
            case .password: .password
            }
    }

    /// Whether it is a page for somebody who is signed in, which only a walk on the real server shows.
    var isOfConsole: Bool {
        switch self {
        case .signIn, .consent, .continue, .goOn, .signOut, .signedOut, .webView, .appLink, .problem, .setup,
            .setupDone:
            false
        case .applications, .applicationTypes, .applicationForm, .application, .connect, .secrets, .deleteApplication,
            .policy, .logo, .association, .administration, .branding, .audit, .account, .connectedApplication,
            .sessions,
            .password:
            true
        }
    }
}
