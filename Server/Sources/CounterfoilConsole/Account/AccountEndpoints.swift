import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages of a user's own account.
struct AccountEndpoints: Sendable {
    let console: Console
    let clients: ConnectedClients
    let browsers: SignedInBrowsers
    let passkeys: PasskeySettings
    let secondFactor: SecondFactorSettings
    let password: PasswordChange

    init(console: Console, hasher: PasswordHasher, users: SignIn, secondFactors: SecondFactors) {
        self.console = console
        clients = ConnectedClients(console: console)
        browsers = SignedInBrowsers(console: console)
        passkeys = PasskeySettings(console: console)
        secondFactor = SecondFactorSettings(console: console, factors: secondFactors)
        password = PasswordChange(console: console, hasher: hasher, users: users)
    }

    var handlers: [EndpointHandler] {
        [
            console.handler(.account, show: clients.list),
            console.handler(.connectedClient, show: clients.show, change: clients.change),
            console.handler(.sessions, show: browsers.show, change: browsers.end),
            console.handler(.passkeys, show: passkeys.show, change: passkeys.change),
            console.handler(.secondFactor, show: secondFactor.show, change: secondFactor.change),
            console.handler(.password, show: password.show, change: password.change),
            console.handler(.email, show: EmailForm(console: console).show, change: EmailForm(console: console).change),
            console.handler(.activity, show: AccountActivity(console: console).show),
            console.handler(.signOut, change: signOut),
        ]
    }

    @Sendable
    private func signOut(_ exchange: Console.Exchange) async throws -> Reply {
        _ = try console.form(exchange)
        return try await console.signOut(exchange)
    }
}

extension Console {
    /// Ends the session of this browser and redirects to the sign-in page.
    func signOut(_ exchange: Exchange) async throws -> Reply {
        let cookie = try await sessions.end(
            exchange.session, recording: event(.signOut, by: exchange), now: exchange.now)
        return Reply.seeOther(path(.consoleSignIn)).setting(cookie)
    }

    /// The path of the page of the email address; nil if no mail is set up.
    var emailPath: String? { mails.map { _ in path(.email) } }

    /// Returns the path of the page on which a user verifies the email address; nil if there is nothing to verify, or
    /// if no mail is set up.
    func verificationPath(for user: User) -> String? {
        guard mails != nil, user.email != nil, user.profile.isEmailVerified != true else { return nil }
        return path(.email)
    }

    /// Returns the paths of the account pages, with the current one marked.
    func accountPaths(at part: AccountPaths.Part, _ exchange: Exchange) -> AccountPaths {
        AccountPaths(
            at: part, account: path(.account), sessions: path(.sessions),
            passkeys: PasskeyCeremonies(settings.issuer) == nil ? nil : path(.passkeys),
            secondFactor: exchange.offersSecondFactor ? path(.secondFactor) : nil, password: path(.password),
            activity: path(.activity))
    }
}

/// The confirmations that the account pages show after a form was submitted.
///
/// The last part of the raw value is the code in the query parameter `done`.
enum AccountNotice: String, LocalizationKey, Notice {
    case disconnected = "account.notice.disconnected"
    case permissionsSaved = "account.notice.saved"
    case sessionEnded = "account.notice.session-ended"
    case sessionOver = "account.notice.session-over"
    case othersEnded = "account.notice.others-ended"
    case passkeyAdded = "account.notice.passkey-added"
    case passkeyRenamed = "account.notice.passkey-renamed"
    case passkeyRemoved = "account.notice.passkey-removed"
    case passkeyGone = "account.notice.passkey-gone"
    case secondFactorOff = "account.notice.second-factor-off"
    case keyAdded = "account.notice.key-added"
    case keyRemoved = "account.notice.key-removed"
    case keyGone = "account.notice.key-gone"
    case appEnded = "account.notice.app-ended"
    case appOver = "account.notice.app-over"
    case passwordChanged = "account.notice.password-changed"
    case passwordAdded = "account.notice.password-added"
    case passwordRemoved = "account.notice.password-removed"
    case identityRemoved = "account.notice.identity-removed"
}

extension Localizer {
    /// Formats the time since an event, in minutes, then in hours, then as a date.
    func ago(_ time: Date, now: Date) -> String {
        switch Int(now.timeIntervalSince(time)) {
        // A browser's last request is recorded at most once a minute, so times below two minutes are shown as just
        // now.
        case ..<120: self(LocalizedText("account.ago.just-now"))
        case let seconds where seconds < 3600:
            self(LocalizedText("account.ago.minutes", ["count": .number(seconds / 60)]))
        case let seconds where seconds < 86400:
            self(LocalizedText("account.ago.hours", ["count": .number(seconds / 3600)]))
        default: date(time)
        }
    }
}
