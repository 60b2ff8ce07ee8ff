import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import TestSupport

/// A page with sample content, for every page and every state that looks different.
struct SamplePage: Sendable {
    let name: String
    let page: any Page

    static let all = [
        SamplePage(name: "sign-in", page: signIn),
        SamplePage(name: "sign-in-again", page: signInAgain),
        SamplePage(name: "sign-in-web-view", page: signInWebView),
        SamplePage(name: "sign-in-passkey-again", page: signInPasskeyAgain),
        SamplePage(name: "sign-in-confirming", page: signInConfirming),
        SamplePage(name: "code", page: code),
        SamplePage(name: "code-again", page: codeAgain),
        SamplePage(name: "code-key", page: codeByKey),
        SamplePage(name: "code-setup", page: codeSetup),
        SamplePage(
            name: "recovery-codes",
            page: RecoveryCodesPage(codes: ["abcde-fghij-klmno", "pqrst-uvwxy-z2345"], next: "/account")),
        SamplePage(name: "recovery", page: recovery),
        SamplePage(name: "recovery-again", page: recoveryAgain),
        SamplePage(name: "recovery-sent", page: RecoverySentPage(lifetime: "30 minutes")),
        SamplePage(name: "new-password", page: newPassword),
        SamplePage(name: "new-password-again", page: newPasswordAgain),
        SamplePage(name: "consent", page: consent),
        SamplePage(name: "consent-by-name", page: consentByName),
        SamplePage(name: "consent-development", page: consentInDevelopment),
        SamplePage(name: "consent-app", page: consentForNativeClient),
        SamplePage(name: "consent-device", page: consentForDevice),
        SamplePage(name: "device-code", page: deviceCode),
        SamplePage(name: "device-code-again", page: deviceCodeAgain),
        SamplePage(name: "device-approved", page: deviceDone),
        SamplePage(
            name: "device-denied", page: DeviceDonePage(kind: .denied, clientName: "TV", codePath: "/device")),
        SamplePage(name: "device-over", page: DeviceDonePage(kind: .over, codePath: "/device")),
        SamplePage(name: "consent-long", page: consentLong),
        SamplePage(name: "consent-unverified", page: consentUnverified),
        SamplePage(name: "consent-document", page: consentForDocument),
        SamplePage(name: "consent-document-long", page: consentForLongHost),
        SamplePage(name: "consent-registered-itself", page: consentForSelfRegistered),
        SamplePage(name: "continue", page: continuing),
        SamplePage(name: "go-on", page: proceed),
        SamplePage(name: "go-on-denied", page: goOnDenied),
        SamplePage(name: "go-on-refused", page: goOnRefused),
        SamplePage(name: "go-on-choice", page: goOnChoice),
        SamplePage(name: "go-on-posted", page: goOnPosted),
        SamplePage(name: "sign-out", page: signOut),
        SamplePage(name: "signed-out", page: SignedOutPage(signInPath: "/sign-in")),
        SamplePage(name: "signed-out-way-back", page: signedOutWayBack),
        SamplePage(name: "signed-out-choice", page: signedOutChoice),
        SamplePage(name: "web-view", page: webView),
        SamplePage(name: "app-link", page: AppLinkPage(clientName: "Lightbox")),
        SamplePage(name: "problem", page: problem),
        SamplePage(name: "problem-developer", page: problemForDeveloper),
        SamplePage(name: "setup", page: SetupPage(action: "/setup", token: "token")),
        SamplePage(name: "setup-again", page: setupAgain),
        SamplePage(name: "setup-done", page: SetupDonePage(username: "alice", signInPath: "/sign-in")),
        SamplePage(name: "sign-up", page: SignUpPage(action: "/sign-up", request: "", ticket: "ticket")),
        SamplePage(name: "sign-up-again", page: signUpAgain),
        SamplePage(name: "sign-up-sent", page: SignUpSentPage(email: "bob@example.com", duration: "30 minutes")),
        SamplePage(name: "new-account", page: newAccount),
        SamplePage(name: "new-account-again", page: newAccountAgain),
        SamplePage(name: "terms", page: terms),
        SamplePage(name: "passkey-offer", page: passkeyOffer),
    ]

    static var frame: Frame {
        var frame = Frame(site: CounterfoilServer.Site(name: "Example Photos"))
        frame.reference = "7f3a9c21d0e84b56"
        return frame
    }

    static let signIn = SignInPage(
        clientName: "Lightbox", action: "/sign-in", request: "request", ticket: "tkt-5f1c",
        stayBox: SignInPage.StayBox(), recovery: SignInPage.Recovery(action: "/recover", destination: "/sign-in")
    )

    static var signInAgain: SignInPage {
        var page = signIn
        page.username = "alice"
        page.stayBox = SignInPage.StayBox(isTicked: true)
        page.problem = "That user name and password do not belong together."
        page.retryAfterSeconds = 90
        return page
    }

    static var signInPasskeyAgain: SignInPage {
        var page = signIn
        page.passkeys = SignInPage.Passkeys(options: "{}", domain: "id.example.com", unknown: "AQID")
        page.problem = "This passkey does not sign you in here."
        page.isPasskeyWrong = true
        return page
    }

    static var signInConfirming: SignInPage {
        var page = signIn
        page.passkeys = SignInPage.Passkeys(options: "{}", domain: "id.example.com")
        page.confirming = "Alice Andersen"
        return page
    }

    static let code = CodePage(
        userDisplayName: "Alice Andersen", action: "/sign-in", request: "request", ticket: "tkt-5f1c",
        pending: "pending", memory: "Ask for no code on this device for 30 days")

    static var codeAgain: CodePage {
        var page = code
        (page.problem, page.retryAfterSeconds, page.isConfirming) = ("Too many attempts.", 720, true)
        (page.keyOptions, page.keyLabel) = ("{}", "Use a passkey or security key")
        return page
    }

    static var codeByKey: CodePage {
        var page = code
        (page.keyOptions, page.keyLabel, page.hasApp) = ("{}", "Use your security key", false)
        return page
    }

    static let codeSetup = CodeSetupPage(
        userDisplayName: "Alice Andersen", action: "/sign-in", request: "request", ticket: "tkt-5f1c",
        pending: "pending", problem: "This is not the code that belongs to the key.",
        offer: AuthenticatorOffer(
            AuthenticatorSecret(), issuer: "Example Photos", name: "alice", setup: "setup"), keyOptions: "{}")

    static let recovery = RecoveryPage(
        action: "/recover", request: "request", ticket: "tkt-5f1c", name: "alice", offersMail: true, offersCodes: true)

    static var recoveryAgain: RecoveryPage {
        var page = recovery
        page.offersMail = false
        page.decision = .code
        page.problem = "The name or the recovery code is wrong, or the code was used before."
        return page
    }

    static let newPassword = NewPasswordPage(
        userDisplayName: "Alice Andersen", username: "alice", action: "/recover", request: "request",
        ticket: "tkt-5f1c", state: .link("token"), asksForCode: true)

    static var newPasswordAgain: NewPasswordPage {
        var page = newPassword
        page.state = .pending("pending")
        page.asksForCode = false
        page.problem = "The password is too short: use at least 8 characters."
        return page
    }

    static var signInWebView: SignInPage {
        var page = signIn
        page.clientName = nil
        page.earlier = SignInPage.Earlier(name: "Alice Andersen", email: MaskedEmail("alice@example.com"))
        page.openInBrowserLink = webView.openInBrowserLink
        return page
    }

    static let consent = ConsentPage(
        clientName: "Lightbox", publisher: "Lightbox AS",
        redirectDestination: .thisComputer(host: "127.0.0.1"), userDisplayName: "Alice Andersen",
        userEmail: MaskedEmail("alice@example.com"), action: "/consent", switchAccountAction: "/sign-out",
        request: "request", ticket: "tkt-5f1c",
        permissions: [
            .init(scope: "openid", title: "Know who you are", detail: "Your name and a number that stands for you"),
            .init(scope: "photos.read", title: "See your photos and albums", detail: "Where they were taken, too"),
            .init(scope: "photos.write", title: "Add photos to your albums", detail: "It cannot change what is there"),
        ],
        lifetime: "This holds until you disconnect it, at most 180 days."
    )

    static var consentByName: ConsentPage {
        var page = consent
        page.redirectDestination = .thisComputerByName
        page.permissions[2].required = false
        page.earlierConsent = "You allowed Lightbox before, on 3 October."
        return page
    }

    static var consentInDevelopment: ConsentPage {
        var page = consent
        page.redirectDestination = .development(host: "localhost:5173")
        page.isVouchedFor = false
        return page
    }

    static var consentForNativeClient: ConsentPage {
        var page = consent
        page.redirectDestination = .app(scheme: "com.example.lightbox")
        page.publisher = nil
        page.permissions = [.init(scope: "photos.read", title: "See your photos and albums")]
        return page
    }

    static var consentForDevice: ConsentPage {
        var page = consent
        page.clientName = "Television"
        page.redirectDestination = .waitingDevice(
            .init(
                userCode: "WDJB-MJHT", source: "2001:db8:85a3:8d3:1319:8a2e:370:7348", program: "A program on Linux",
                requested: "2 minutes ago"))
        page.isVouchedFor = false
        return page
    }

    static let deviceCode = DeviceCodePage(action: "/device", ticket: "tkt-5f1c", userCode: "WDJB-MJHT")

    static var deviceCodeAgain: DeviceCodePage {
        var page = deviceCode
        page.problem = "Too many wrong codes."
        page.retryAfterSeconds = 90
        return page
    }

    static let deviceDone = DeviceDonePage(kind: .approved, clientName: "Television", codePath: "/device")

    static var consentLong: ConsentPage {
        var page = consent
        page.clientName = DisplayName(String(repeating: "Donaudampfschifffahrtsgesellschaft", count: 9))
        page.publisher = DisplayName(String(repeating: "W", count: 500))
        page.redirectDestination = .website(host: String(repeating: "very-long-label.", count: 8) + "example.com")
        page.userDisplayName = DisplayName(String(repeating: "Wolfeschlegelsteinhausenbergerdorff ", count: 5))
        page.userEmail = MaskedEmail(
            "wolfeschlegelsteinhausen@" + String(repeating: "mail.", count: 12) + "example.com")
        return page
    }

    static var consentUnverified: ConsentPage {
        var page = consent
        page.isVouchedFor = false
        page.openInBrowserLink = webView.openInBrowserLink
        page.allowedBefore = [page.permissions.removeFirst()]
        page.permissions[0].isNew = true
        page.permissions[1].isNew = true
        page.permissions[1].required = false
        page.siteWords = try? ConsentText(
            markdown: "Only **employees**. Ask the [help desk](https://help.example.com).", formats: .standard
        ).html
        page.sitePrivacy = .init(address: "https://example.com/privacy", host: "example.com")
        page.privacy = .init(address: "https://lightbox.example/privacy", host: "lightbox.example")
        page.terms = .init(address: "https://lightbox.example/terms", host: "lightbox.example")
        return page
    }

    static var consentForDocument: ConsentPage {
        var page = consent
        page.clientName = "apps.viewer.co.uk"
        page.clientInitials = "PV"
        page.publisher = nil
        page.isVouchedFor = false
        page.unregisteredClient = .init(
            host: ShownHost("apps.viewer.co.uk", port: 8443, suffixes: .system), name: "Photo Viewer",
            use: "First seen here on 3 October 2026. 12 people here use it.", isOnDevice: true)
        return page
    }

    static var consentForLongHost: ConsentPage {
        let host = String(repeating: "accounts-of-your-bank.", count: 8) + String(repeating: "a", count: 60) + ".co.uk"
        var page = consentForDocument
        page.clientName = DisplayName(String(host.suffix(DisplayName.maximumLength)))
        page.unregisteredClient = .init(
            host: ShownHost(host, suffixes: .system), name: DisplayName(String(repeating: "W", count: 500)),
            use: "First seen here today.")
        page.redirectDestination = .website(host: host)
        return page
    }

    static var consentForSelfRegistered: ConsentPage {
        var page = consentForDocument
        page.clientName = "Photo Viewer (viewer.example)"
        page.redirectDestination = .website(host: "viewer.example")
        page.unregisteredClient = .init(
            host: nil, name: "Photo Viewer", use: "First seen here today. More than 1,000 people here use it.")
        return page
    }

    static let continuing = ContinuePage(
        clientName: "Lightbox", redirectDestination: .app(scheme: "com.example.lightbox"),
        userDisplayName: "Alice Andersen", userEmail: MaskedEmail("alice@example.com"), action: "/continue",
        request: "request", ticket: "tkt-5f1c")

    static let proceed = ReturnPage(
        clientName: "Lightbox", destination: "com.example.lightbox:/done?code=c&state=s",
        kind: .allowed(codeLifetime: 60)
    )

    static var goOnDenied: ReturnPage {
        var page = proceed
        page.kind = .denied
        return page
    }

    static var goOnRefused: ReturnPage {
        var page = proceed
        page.kind = .refused
        return page
    }

    static var goOnChoice: ReturnPage {
        var page = goOnRefused
        page.destination = "https://lightbox.example/done?error=invalid_request"
        page.host = "lightbox.example"
        return page
    }

    /// With a choice, so that the page does not submit itself during the test.
    static var goOnPosted: ReturnPage {
        var page = goOnChoice
        page.destination = "https://lightbox.example/done"
        page.fields = [.init(name: "error", value: "invalid_request"), .init(name: "state", value: "s")]
        return page
    }

    static let signOut = SignOutPage(
        userDisplayName: "Alice Example", clientName: "Lightbox", action: "/oauth2/logout/answer", request: "state=s",
        ticket: "t")

    static let signedOutWayBack = SignedOutPage(
        clientName: "Lightbox", destination: "https://lightbox.example/bye", signInPath: "/sign-in")

    static var signedOutChoice: SignedOutPage {
        var page = signedOutWayBack
        page.host = "lightbox.example"
        return page
    }

    static let webView = WebViewPage(
        clientName: "Lightbox",
        openInBrowserLink: OpenInBrowserLink(
            address: "https://id.example.com/oauth2/authorize?client_id=lightbox",
            opening: "intent://id.example.com/oauth2/authorize?client_id=lightbox#Intent;scheme=https;end")
    )

    static let problem = ProblemPage(
        status: 400, title: "This sign-in link does not fit its application",
        explanation:
            "The address that the answer should go to is not one that the application registered, so nothing was sent.",
        advice: "Start again from the application. If it happens again, tell its makers and quote the reference below."
    )

    static var problemForDeveloper: ProblemPage {
        var page = problem
        page.developer = ProblemPage.DeveloperSection(
            clientID: "app_Hs1vQ2kYp8rZt6uWx3nB4g",
            redirectURI: "http://localhost:5173/" + String(repeating: "callback", count: 22) + #"\u{202E}"# + "…",
            cut: "Its length is 20480 bytes; only the beginning is shown.",
            registered: "http://127.0.0.1:5173/callback",
            differences: ["localhost, 127.0.0.1 and [::1] are not interchangeable.", "The path differs."],
            advice: "Send the registered redirect URI, or register the one that the app sends.",
            settings: "/apps/app_Hs1vQ2kYp8rZt6uWx3nB4g/edit")
        return page
    }

    static let signUpAgain = SignUpPage(
        clientName: "Lightbox", action: "/sign-up", request: "client_id=app_1", ticket: "ticket", email: "bob",
        problem: "Too many emails were sent.", retryAfterSeconds: 90)

    static let newAccount = NewAccountPage(
        action: "/sign-up", link: "invitation", secret: "secret", ticket: "ticket", email: "bob@example.com",
        clientName: "Lightbox",
        terms: NewAccountPage.TermsBox(uri: "https://www.example.com/terms", version: "2031-05"))

    static var newAccountAgain: NewAccountPage {
        var page = newAccount
        page.username = "alice"
        page.displayName = #"Bob <b>Builder</b>"#
        page.problem = "This user name is taken. Choose another."
        page.wrongField = .username
        return page
    }

    static let terms = TermsPage(
        clientName: "Lightbox", userDisplayName: "Alice Andersen", termsURI: "https://www.example.com/terms",
        action: "/terms", question: TermsQuestion(door: .authorization, request: "client_id=app_1", version: "2031-05"),
        ticket: "ticket")

    static let passkeyOffer = PasskeyOfferPage(
        clientName: "Lightbox", action: "/passkey-offer",
        question: PasskeyOfferQuestion(door: .authorization, request: "client_id=app_1"), ticket: "ticket",
        options: "{}", upgradeOptions: "{}",
        problem: "The passkey could not be verified. Try again, or use another device.")

    static let setupAgain = SetupPage(
        action: "/setup", token: "token", username: "alice", email: "alice@example.com",
        problem: "The password is too short: use at least 8 characters.", wrongField: .password
    )
}
