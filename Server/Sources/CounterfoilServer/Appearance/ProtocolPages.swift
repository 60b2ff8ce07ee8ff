import CounterfoilProtocol

extension SignInPage: Page {
    package static let template = "sign-in"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "usernameKept": !username.isEmpty,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}

extension ConsentPage: Page {
    package static let template = "consent"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "destination": DestinationValues(redirectDestination), "hasChoice": hasChoice,
            "addsToEarlier": !allowedBefore.isEmpty,
        ]
    }
}

extension ContinuePage: Page {
    package static let template = "continue"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["destination": DestinationValues(redirectDestination)]
    }
}

extension DeviceCodePage: Page {
    package static let template = "device-code"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
            "isFilled": !userCode.isEmpty && problem == nil,
        ]
    }
}

extension DeviceDonePage: Page {
    package static let template = "device-done"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["approved": kind == .approved, "denied": kind == .denied, "over": kind == .over]
    }
}

extension ReturnPage: Page {
    package static let template = "go-on"

    package var script: PageScript? { continuesAutomatically && !fields.isEmpty ? .proceed : nil }
    package var leadsTo: String? { destination }
    package var postsToClient: Bool { !fields.isEmpty }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        var time: String?
        if case .allowed(let seconds) = kind { time = Localizer(frame.language)(.duration(seconds: seconds)) }
        return [
            "time": time, "denied": kind == .denied, "refused": kind == .refused, "posts": !fields.isEmpty,
        ]
    }
}

extension SignOutPage: Page {
    package static let template = "sign-out"

    package var script: PageScript? { personName == nil ? .proceed : nil }
}

extension SignedOutPage: Page {
    package static let template = "signed-out"

    package var leadsTo: String? { destination }
}

extension WebViewPage: Page { package static let template = "web-view" }

extension AppLinkPage: Page { package static let template = "app-link" }

extension ProblemPage: Page { package static let template = "problem" }

extension SetupPage: Page {
    package static let template = "setup"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        let field = wrongField ?? .username
        return [
            "atUsername": field == .username, "atEmail": field == .email, "atPassword": field == .password,
        ]
    }
}

extension SetupDonePage: Page { package static let template = "setup-done" }

/// The variables of a template for the redirect destination; only one is set, and the others are nil or false.
private struct DestinationValues {
    var thisComputer: String?
    var thisComputerByName = false
    var development: String?
    var app: String?
    var website: String?
    var waitingDevice: ConsentPage.WaitingDevice?

    init(_ destination: ConsentPage.RedirectDestination) {
        switch destination {
        case .thisComputer(let host): thisComputer = host
        case .thisComputerByName: thisComputerByName = true
        case .development(let host): development = host
        case .app(let scheme): app = scheme
        case .website(let host): website = host
        case .waitingDevice(let device): waitingDevice = device
        }
    }
}
