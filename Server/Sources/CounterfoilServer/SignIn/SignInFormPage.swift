import CounterfoilProtocol
import CounterfoilStore
package import Foundation
import HTTPTypes

/// The page with the form.
extension SignInForm {
    /// The parts of the page that differ between the endpoints that show the form.
    package struct Content: Sendable {
        /// The value of the hidden field `request`: the request to continue with after the sign-in.
        let pendingRequest: String
        let clientName: DisplayName?
        /// The username with which the form is filled in when it is shown for the first time; empty for that of the
        /// earlier sign-in in this browser.
        let username: String
        let openInBrowserLink: OpenInBrowserLink?
        let notice: String?
        /// The page on which a signed-in user confirms; nil for a sign-in.
        let stepUp: StepUp?

        enum StepUp: Sendable {
            /// With one of the passkeys of the user.
            case passkey(of: User, [Passkey])
            /// With a code of the second factor.
            case code(SecondStep)
        }

        package init(
            pendingRequest: String, clientName: DisplayName? = nil, username: String = "",
            openInBrowserLink: OpenInBrowserLink?, notice: String? = nil
        ) {
            self.init(
                pendingRequest: pendingRequest, clientName: clientName, username: username,
                openInBrowserLink: openInBrowserLink, notice: notice, stepUp: nil)
        }

        init(
            pendingRequest: String, clientName: DisplayName?, username: String = "",
            openInBrowserLink: OpenInBrowserLink?, notice: String? = nil, stepUp: StepUp?
        ) {
            self.pendingRequest = pendingRequest
            self.clientName = clientName
            self.username = username
            self.openInBrowserLink = openInBrowserLink
            self.notice = notice
            self.stepUp = stepUp
        }
    }

    /// Returns the page with the form; the reply sets the browser cookie if the request contains none.
    ///
    /// - Parameters:
    ///   - content: The content around the form.
    ///   - again: The reason why the page is shown again; nil if it is shown for the first time.
    ///   - request: The HTTP request that the page is the response to.
    ///   - now: The time of the request.
    package func page(
        _ content: Content, again: Again? = nil, on request: IncomingRequest, now: Date
    ) throws -> Reply {
        if let step = again?.secondStep ?? content.secondStep { return try page(step, content, on: request, now: now) }
        if case .newPassword(let step) = again { return try page(step, content, on: request, now: now) }
        let (browser, cookie) = browserToken(of: request)
        let isForgotten = again?.isForgotten ?? false
        let earlier = isForgotten ? nil : earlierSignIns.of(request)
        let username =
            again?.typed?.name ?? (content.username.isEmpty ? earlier?.username.rawValue ?? "" : content.username)
        let ticket = ticket(for: content.pendingRequest, in: browser, now: now)
        let page = SignInPage(
            clientName: content.clientName,
            action: settings.issuer.path + endpoint.path,
            request: content.pendingRequest,
            ticket: ticket,
            username: username,
            stayBox: stayBox(
                again?.typed?.staysSignedIn ?? (earlier?.username.rawValue == username ? earlier?.staysSignedIn : nil)),
            problem: again?.problem(confirming: content.stepUp != nil).map { request.words($0) },
            isPasskeyWrong: again?.isPasskeyWrong ?? false,
            retryAfterSeconds: again?.retryAfter,
            passkeys: PasskeyCeremonies(settings.issuer).map { ceremonies in
                SignInPage.Passkeys(
                    options: ceremonies.requestOptions(answering: ticket, of: content.confirming?.passkeys ?? []),
                    domain: ceremonies.domain, unknown: again?.unknownPasskey)
            },
            confirming: content.confirming.map { DisplayName(of: $0.user) },
            earlier: earlier.map { SignInPage.Earlier(name: $0.name, email: $0.email) },
            openInBrowserLink: content.openInBrowserLink,
            notice: content.notice,
            external: external(content),
            recovery: offersRecovery && content.stepUp == nil ? recovery(from: content.pendingRequest) : nil,
            signUp: signUpOffer(content)
        )
        var reply = Reply(again?.status ?? .ok, .page(page))
        if let retryAfter = again?.retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        return reply.setting(cookie)
            .setting(isForgotten ? sessions.cookies.noEarlierUser : nil)
    }

    /// Returns the way to the page for a user who has forgotten the password, and who then continues here.
    private func recovery(from pendingRequest: String) -> SignInPage.Recovery {
        let destination =
            switch endpoint {
            case .signIn: Endpoint.authorization.path + "?" + pendingRequest
            case .deviceSignIn: Endpoint.device.path + "?" + pendingRequest
            default: endpoint.path + "?" + FormParameters(["to": pendingRequest]).encoded
            }
        return SignInPage.Recovery(action: settings.issuer.path + Endpoint.recovery.path, destination: destination)
    }

    /// Returns the link to the page of the owner that signs users in; nil if there is none.
    private func external(_ content: Content) -> SignInPage.ExternalLink? {
        guard let external = settings.externalSignIn, content.stepUp == nil else { return nil }
        // The authorization endpoint validates the request, and leads to the page itself.
        guard endpoint != .signIn else {
            return SignInPage.ExternalLink(
                name: external.label,
                address: settings.issuer.path + Endpoint.authorization.path + "?" + content.pendingRequest)
        }
        let door: SignInDoor = endpoint == .deviceSignIn ? .device : .console
        let query = FormParameters(["door": door.rawValue, "request": content.pendingRequest])
        return SignInPage.ExternalLink(
            name: external.label,
            address: settings.issuer.path + Endpoint.externalSignIn.path + "?" + query.encoded)
    }

    /// Returns the button with which a person asks for an account; nil if the server does not offer that here.
    private func signUpOffer(_ content: Content) -> SignInPage.SignUpOffer? {
        guard settings.signUp == .open, content.stepUp == nil else { return nil }
        let action = settings.issuer.path + Endpoint.signUp.path
        if purpose == .signIn { return SignInPage.SignUpOffer(action: action, request: content.pendingRequest) }
        // The code of a device is not stored with a request for an account.
        return purpose == .consoleSignIn ? SignInPage.SignUpOffer(action: action, request: "") : nil
    }

    /// Returns the checkbox "Keep me signed in on this device"; nil if the settings offer no choice.
    ///
    /// - Parameter chosen: The choice of the user whose name the form contains; nil if it is unknown.
    private func stayBox(_ chosen: Bool?) -> SignInPage.StayBox? {
        guard settings.sessionPersistence != .never else { return nil }
        return SignInPage.StayBox(isTicked: chosen ?? (settings.sessionPersistence == .ticked))
    }
}

extension SignInForm.Content {
    /// The signed-in user who confirms with a passkey.
    fileprivate var confirming: (user: User, passkeys: [Passkey])? {
        if case .passkey(let user, let passkeys) = stepUp { (user, passkeys) } else { nil }
    }

    fileprivate var secondStep: SignInForm.SecondStep? { if case .code(let step) = stepUp { step } else { nil } }
}

extension SignInForm.Again {
    fileprivate var isForgotten: Bool { if case .forgotten = self { true } else { false } }

    fileprivate var typed: SignInForm.Typed? {
        switch self {
        case .forgotten, .secondStep, .newPassword, .tooLate: nil
        case .wrong(let typed), .wrongPasskey(let typed, _), .tooEarly(let typed, _), .passkeyNeeded(let typed),
            .secondFactorLost(let typed):
            typed
        }
    }

    fileprivate var secondStep: SignInForm.SecondStep? { if case .secondStep(let step) = self { step } else { nil } }

    fileprivate func problem(confirming isConfirmation: Bool) -> SignInMessage? {
        switch self {
        case .forgotten, .secondStep, .newPassword: nil
        case .wrong: .wrong
        case .wrongPasskey: isConfirmation ? .wrongPasskeyToConfirm : .wrongPasskey
        case .tooEarly: .tooManyAttempts
        case .passkeyNeeded: .passkeyNeeded
        case .secondFactorLost: .secondFactorLost
        case .tooLate: .tooLate
        }
    }

    fileprivate var isPasskeyWrong: Bool {
        switch self {
        case .wrongPasskey, .passkeyNeeded, .secondFactorLost, .tooLate: true
        case .forgotten, .wrong, .tooEarly, .secondStep, .newPassword: false
        }
    }

    fileprivate var unknownPasskey: String? { if case .wrongPasskey(_, let id) = self { id } else { nil } }

    fileprivate var retryAfter: Int? { if case .tooEarly(_, let seconds) = self { seconds } else { nil } }

    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .forgotten, .secondStep, .newPassword: .ok
        case .wrong, .wrongPasskey, .passkeyNeeded, .secondFactorLost, .tooLate: .badRequest
        case .tooEarly: .tooManyRequests
        }
    }
}
