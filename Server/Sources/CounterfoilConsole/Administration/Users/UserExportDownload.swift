import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// The download of everything that the server stores about a user, at the page of the user.
struct UserExportDownload: Sendable {
    let console: Console

    /// Answers with the file, whose event is stored before.
    func send(_ user: UserIdentifier, _ exchange: Console.Exchange) async throws -> Reply {
        guard let reporter = console.reporter else { throw NotFoundError() }
        switch try await reporter.export(of: user, for: exchange.request.context) {
        case .notFound: throw NotFoundError()
        case .tooLarge: return .done(UserNotice.exportTooLarge, at: console.path(.user, of: user))
        case .records(let bytes):
            try await console.administration(exchange.user, exchange.request, exchange.now).noteExport(of: user)
            return Reply(
                .ok, .file(bytes, type: "application/json"),
                fields: [.contentDisposition: "attachment; filename=\"\(user).json\""])
        }
    }
}
