import ArgumentParser
import CounterfoilServer
import CounterfoilStore

extension Settings {
    static let registration = Setting(
        "registration", .choice(), default: RegistrationPolicy.everyone, to: \.registration, value: "who",
        "Who may register apps at /apps: every user, the users with the role developer, or administrators alone.")
    static let newClients = Setting(
        "new-apps", .choice(), default: NewClientApproval.open, to: \.newClients, value: "approval",
        "Who can sign in to a new app before its approval: all users, those whom its developer names, or none.")
    static let clientsPerDeveloper = Setting(
        "applications-per-developer", .number(1...1_000_000), default: 50, to: \.clientsPerDeveloper, value: "n",
        "The number of apps that one developer may register.")
    static let plainSchemes = Setting(
        "plain-scheme", .plainSchemes, default: [], value: "scheme", example: "cursor", isLive: true,
        shared: { $0.plainSchemes.sorted().joined(separator: " ") },
        "A scheme without a period that redirect URIs may use, such as cursor or vscode. Can be repeated.",
        use: { $1.plainSchemes = Set($0) })
    static let noDevelopmentRedirectURIs = Setting(
        "no-development-redirect-uris", .flag, default: false, isLive: true,
        shared: { "\(!$0.allowsDevelopmentRedirectURIs)" },
        "Refuse redirect URIs for development: http on loopback, of web and single-page apps.",
        use: { $1.allowsDevelopmentRedirectURIs = !$0 })
    static let unregisteredClients = Setting<UnregisteredClientSwitch?>(
        "unregistered-clients", .choice(), value: "kinds",
        administration: "/admin/unregistered, or with counterfoil-server unregistered edit",
        shared: { settings in
            settings.unregisteredClients.map { $0.map(\.rawValue).sorted().joined(separator: " ") } ?? "policy"
        },
        "The unregistered apps to accept, in place of what the policy at /admin/unregistered says.",
        use: { $1.unregisteredClients = $0?.kinds })
    static let registrationsPerSource = Setting(
        "registrations-per-source", .number(1...1_000_000), default: 50, to: \.registrationsPerSource, value: "n",
        "The number of apps that register themselves in an hour from one client address, changes included.")
    static let registrationsPerHour = Setting(
        "registrations-per-hour", .number(2...1_000_000), default: 1000, to: \.registrationsPerHour, value: "n",
        "The same number from all addresses together, 2 to 1000000. The second half is for addresses with few.")
}

extension SettingForm<[String]> {
    fileprivate static let plainSchemes = SettingForm<String>(
        .text("^[a-z][a-z0-9+-]{1,63}$"),
        read: { scheme throws(SettingRefusal) in
            guard PlainSchemes.isOne(scheme) else {
                throw .text(
                    scheme,
                    "a plain scheme has 2 to 64 lowercase letters, digits, + and -, starts with a letter, and must not "
                        + "be one that browsers handle themselves")
            }
            return scheme
        }, text: { $0 }
    ).list()
}

/// The options of `serve` for the registration of clients by developers.
struct RegistrationOptions: SettingGroup {
    static let title = "App registration"

    @Option(Settings.registration) var policy: String?
    @Option(Settings.newClients) var newClients: String?
    @Option(Settings.clientsPerDeveloper) var clientsPerDeveloper: String?
    @Option(Settings.plainSchemes) var plainSchemes: [String]
    @Flag(Settings.noDevelopmentRedirectURIs) var noDevelopmentRedirectURIs: Bool
    @Option(Settings.unregisteredClients) var unregisteredClients: String?
    @Option(Settings.registrationsPerSource) var registrationsPerSource: String?
    @Option(Settings.registrationsPerHour) var registrationsPerHour: String?

    static let options: [SettingOption<Self>] = [
        .init(Settings.registration, \.policy),
        .init(Settings.newClients, \.newClients),
        .init(Settings.clientsPerDeveloper, \.clientsPerDeveloper),
        .init(Settings.plainSchemes, \.plainSchemes),
        .init(Settings.noDevelopmentRedirectURIs, \.noDevelopmentRedirectURIs),
        .init(Settings.unregisteredClients, \.unregisteredClients),
        .init(Settings.registrationsPerSource, \.registrationsPerSource),
        .init(Settings.registrationsPerHour, \.registrationsPerHour),
    ]
}
