import CounterfoilServer
import CounterfoilStore
import Foundation

/// The steps from an empty server to one that apps use.
struct NextSteps {
    let console: Console
    let exchange: Console.Exchange
    /// The state of the installation; nil if it is not known.
    let installation: InstallationState?

    /// Returns the steps that the user may take, with those that are done.
    ///
    /// - Parameters:
    ///   - users: The number of users.
    ///   - clients: The number of registered clients.
    func all(users: Int, clients: Int) async throws -> [OverviewPage.Step] {
        let registry = try await console.registry.atArrival()
        var steps: [OverviewPage.Step] = []
        if exchange.user.may(.writeUsers) {
            steps.append(step(.users, .usersAbout, isDone: users > 1, at: .newUser, named: .newUser))
        }
        if exchange.user.may(.writeAPIs) {
            let standard = Set(ScopeDefinition.standard.map(\.token))
            let hasOwn = try await registry.scopes().contains { !standard.contains($0.token) }
            steps.append(step(.scopes, .scopesAbout, isDone: hasOwn, at: .newScope, named: .newScope))
            steps.append(
                step(.apis, .apisAbout, isDone: try await !registry.resources().isEmpty, at: .newAPI, named: .newAPI))
        }
        if exchange.user.may(.writeClients) {
            steps.append(step(.app, .appAbout, isDone: clients > 0, at: .newClient, named: .register))
        }
        if exchange.user.may(.writeServer) {
            let isDone = try await registry.branding() != Branding()
            steps.append(step(.branding, .brandingAbout, isDone: isDone, at: .branding, named: .brandingPage))
        }
        if exchange.user.may(.readServer) { steps += [mail, backup] }
        return steps
    }

    private var mail: OverviewPage.Step {
        let isSetUp = console.mails != nil
        return step(.mail, .mailAbout, isDone: isSetUp, at: isSetUp ? .mailPreview : nil, named: .mailPage)
    }

    private var backup: OverviewPage.Step {
        let command = "counterfoil-server backup --output FILE --data-dir DIR"
        return switch installation?.backup ?? .unknown {
        case .unknown: step(.backup, .databaseAbout)
        case .never: step(.backup, .backupAbout, command: command)
        case .made: step(.backup, .backupAbout, isDone: true, command: command)
        }
    }

    private func step(
        _ name: StepMessage, _ about: StepMessage, isDone: Bool = false, at endpoint: Endpoint? = nil,
        named pathName: StepMessage? = nil, command: String? = nil
    ) -> OverviewPage.Step {
        OverviewPage.Step(
            name: exchange.words(name), about: exchange.words(about), isDone: isDone,
            path: endpoint.map { console.path($0) },
            pathName: endpoint == nil ? nil : pathName.map { exchange.words($0) }, command: command)
    }
}

/// The names of the steps with their explanations, and those of the pages to which they lead.
private enum StepMessage: String, LocalizationKey {
    case users = "first-steps.users"
    case usersAbout = "first-steps.users-about"
    case scopes = "first-steps.scopes"
    case scopesAbout = "first-steps.scopes-about"
    case apis = "first-steps.apis"
    case apisAbout = "first-steps.apis-about"
    case app = "first-steps.app"
    case appAbout = "first-steps.app-about"
    case branding = "first-steps.branding"
    case brandingAbout = "first-steps.branding-about"
    case mail = "first-steps.mail"
    case mailAbout = "first-steps.mail-about"
    case backup = "first-steps.backup"
    case backupAbout = "first-steps.backup-about"
    case databaseAbout = "first-steps.database-about"
    case newUser = "users.new"
    case newScope = "scopes.new"
    case newAPI = "apis.new"
    case register = "applications.register"
    case brandingPage = "administration.branding"
    case mailPage = "mail.preview.title"
}
