import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/users/{user_id}/export`: the download of everything that the server stores about a user.
struct UserExportDownload: Sendable {
    let console: Console

    /// Returns the form that starts the download.
    func form(_ user: UserIdentifier, _ exchange: Console.Exchange) -> UserAccountPage.ExportForm {
        let action = console.path(.exportUser, of: user)
        return UserAccountPage.ExportForm(action: action, ticket: console.ticket(exchange, for: action))
    }

    /// Answers with the file, whose event is stored before.
    func send(_ exchange: Console.Exchange) async throws -> Reply {
        guard let reporter = console.reporter, let user = exchange.request.parameters.userID else {
            throw NotFoundError()
        }
        _ = try console.form(exchange)
        switch try await reporter.export(of: user, for: exchange.request.context) {
        case .notFound: throw NotFoundError()
        case .tooLarge: return .done(UserNotice.exportTooLarge, at: console.path(.user, of: user))
        case .records(let bytes):
            try await console.administration(exchange.user.id, exchange.request, exchange.now).noteExport(of: user)
            return Reply(
                .ok, .file(bytes, type: "application/json"),
                fields: [.contentDisposition: "attachment; filename=\"\(user).json\""])
        }
    }
}
