/// A page that the server shows to a person, as a value: what it says, never how it looks.
///
/// An endpoint builds the value, the web layer renders it with a template. Every text in here is plain text that the
/// renderer escapes, already in the person's language; names that others chose are ``DisplayName``s. Whose service it is
/// and which language it speaks stand around it in a ``Frame``.
///
/// A new page is a case here, a struct beside this file, a template, and its line in the renderer's table.
public enum Page: Sendable, Hashable {
    /// The sign-in form.
    case signIn(SignInPage)
    /// The question whether an application may use the person's account.
    case consent(ConsentPage)
    /// The question whether to go on to a client with the account that is signed in.
    case `continue`(ContinuePage)
    /// The way back to the application after an answer.
    case goOn(GoOnPage)
    /// The question whether to sign out.
    case signOut(SignOutPage)
    /// The confirmation that nobody is signed in any more.
    case signedOut(SignedOutPage)
    /// The way out of a web-view.
    case webView(WebViewPage)
    /// An address that an app has claimed, opened where the app is not installed.
    case appLink(AppLinkPage)
    /// Something that went wrong and what to do about it.
    case problem(ProblemPage)
    /// The form that makes the first administrator.
    case setup(SetupPage)
    /// The confirmation that the first administrator exists.
    case setupDone(SetupDonePage)
    /// A developer's applications.
    case applications(ApplicationsPage)
    /// The choice of what a new application is.
    case applicationTypes(ApplicationTypesPage)
    /// The form in which an application is registered or changed.
    case applicationForm(ApplicationFormPage)
    /// What is registered of an application.
    case application(ApplicationPage)
    /// How to connect an application.
    case connect(ConnectPage)
    /// The secrets of an application.
    case secrets(SecretsPage)
    /// The question whether an application is to end.
    case deleteApplication(DeleteApplicationPage)
    /// What the administrator decides about an application.
    case policy(PolicyPage)
    /// The picture of an application.
    case logo(LogoPage)
    /// Whether foreign hosts name an application.
    case association(AssociationPage)
    /// Every application.
    case administration(AdministrationPage)
    /// How the pages look.
    case branding(BrandingPage)
    /// What happened.
    case audit(AuditPage)
    /// What a person has allowed.
    case account(AccountPage)
    /// What one application may do for a person.
    case connectedApplication(ConnectedApplicationPage)
    /// The browsers in which a person is signed in.
    case sessions(SessionsPage)
    /// A new password.
    case password(PasswordPage)
}

extension Page {
    /// A script that a page loads.
    public enum Script: Sendable, Hashable {
        /// The comforts of the console.
        case console
        /// The few lines that submit the form of a page that goes on by itself.
        case goOn
    }

    /// The script that the page loads; nil for most.
    ///
    /// Both the document and its security policy follow from it.
    public var script: Script? {
        switch self {
        case .goOn(let page): page.goesOn && !page.fields.isEmpty ? .goOn : nil
        case .signOut(let page): page.personName == nil ? .goOn : nil
        default: console == nil ? nil : .console
        }
    }

    /// The head of the page, where it is one for somebody who is signed in.
    public var console: ConsoleHead? {
        switch self {
        case .account(let page): page.console
        case .connectedApplication(let page): page.console
        case .sessions(let page): page.console
        case .password(let page): page.console
        case .applications(let page): page.console
        case .applicationTypes(let page): page.console
        case .applicationForm(let page): page.console
        case .application(let page): page.console
        case .connect(let page): page.console
        case .secrets(let page): page.console
        case .deleteApplication(let page): page.console
        case .policy(let page): page.console
        case .logo(let page): page.console
        case .association(let page): page.console
        case .administration(let page): page.console
        case .branding(let page): page.console
        case .audit(let page): page.console
        case .signIn, .consent, .continue, .goOn, .signOut, .signedOut, .webView, .appLink, .problem, .setup,
            .setupDone:
            nil
        }
    }
}
