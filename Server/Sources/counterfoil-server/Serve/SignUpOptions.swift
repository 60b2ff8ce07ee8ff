import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer

extension Settings {
    static let signUp = Setting(
        "sign-up", .choice(), default: SignUpPolicy.closed, to: \.signUp, value: "choice",
        "Who may create an account of their own: no one, persons with an invitation (counterfoil-server user invite), or "
            + "everyone with an email address, for which email must be set up.")
    static let termsURI = Setting<AbsoluteURI?>(
        "terms-uri", .termsURI, value: "url", example: "https://www.example.com/terms", isLive: true,
        shared: { $0.termsURI?.rawValue ?? "" },
        "The https URL of the terms of the service, which every user must accept. (default: none)",
        use: { $1.termsURI = $0 })
    static let termsVersion = Setting<String?>(
        "terms-version",
        .text(.text("^[!-~]{1,64}$")) { text in
            text.wholeMatch(of: /[!-~]{1,64}/) == nil
                ? .text(text, "must be 1 to 64 ASCII characters without spaces") : nil
        },
        value: "version", example: "2031-05-01", isLive: true, shared: { $0.termsVersion ?? "" },
        "The version of the terms. A user who has accepted another one must accept this one before an app gets a token "
            + "for a sign-in. (default: none)",
        use: { $1.termsVersion = $0 })
}

extension SettingForm<AbsoluteURI> {
    fileprivate static let termsURI = SettingForm(
        .text("^https://"),
        read: { text throws(SettingRefusal) in
            guard text.utf8.count <= 2048, let uri = try? AbsoluteURI(parsing: text), uri.scheme == "https",
                uri.host?.isEmpty == false, uri.userInformation == nil
            else { throw .text(text, "must be an https URL of at most 2048 bytes") }
            return uri
        }, text: { $0.rawValue })
}

/// The options of `serve` for accounts that persons create themselves, and for the terms of the service.
struct SignUpOptions: SettingGroup {
    static let title = "Sign-up"

    @Option(Settings.signUp) var policy: String?
    @Option(Settings.termsURI) var termsURI: String?
    @Option(Settings.termsVersion) var termsVersion: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.signUp, \.policy), .init(Settings.termsURI, \.termsURI),
        .init(Settings.termsVersion, \.termsVersion),
    ]
}

extension ServeConfiguration {
    /// Throws if persons are to create accounts without email, or if the terms have no version or no URL.
    func checkSignUp() throws(SettingMistake) {
        guard self[Settings.signUp] != .open || self[Settings.mailSender] != nil else {
            throw SettingMistake(
                "\(Settings.signUp) open requires \(Settings.mailSender): the address of a new user is verified by email."
            )
        }
        guard self[Settings.termsURI] == nil || self[Settings.termsVersion] != nil else {
            throw SettingMistake("\(Settings.termsURI) requires \(Settings.termsVersion).")
        }
        guard self[Settings.termsVersion] == nil || self[Settings.termsURI] != nil else {
            throw SettingMistake("\(Settings.termsVersion) requires \(Settings.termsURI).")
        }
    }
}
