@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) package import CounterfoilTokens
import Foundation
package import HTTPTypes
package import Logging

/// The facts that a command on the machine of the server has about it.
package struct CommandContext: Sendable {
    /// The rules for the registration of clients, which commands have before the first start of a server, too.
    let rules: ClientRules
    /// The creator of the notices to users; nil without mail.
    let notices: (any AccountNotices)?
    /// Whether a running server sends the mails that a command queues.
    let sendsMail: Bool

    package init(rules: ClientRules, notices: (any AccountNotices)?, sendsMail: Bool) {
        self.rules = rules
        self.notices = notices
        self.sendsMail = sendsMail
    }
}

/// The answer of an operation of the administration API, as a program reads it.
package struct AdministrationResponse: Sendable {
    package let status: HTTPResponse.Status
    package let fields: HTTPFields
    package let body: [UInt8]

    package init(status: HTTPResponse.Status, fields: HTTPFields, body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The operations of the administration API for a command, which works on the store and needs no token.
///
/// The operations are those that answer requests with a token, so they have the same rules. Their events are those of
/// a command.
package struct LocalAdministration: Sendable {
    private let components: ServerComponents
    private let routes: RouteTable
    private let context: CommandContext
    private let pages: [Endpoint]

    /// Creates the operations on a store.
    ///
    /// - Parameters:
    ///   - settings: The settings that the server shares with commands.
    ///   - pages: The pages of the server, of whose paths a client identifier can be none.
    package init(
        on store: any AuthorizationServerStore, serverKey: ServerKey, settings: ServerSettings, pages: ServerPages,
        context: CommandContext, logger: Logger
    ) async throws {
        components = ServerComponents(
            settings: settings, store: store, serverKey: serverKey,
            keys: try await KeyRing.reading(store, serverKey: serverKey), hasher: PasswordHasher(),
            formats: pages.formats, associations: nil, clientFiles: nil, mailSender: nil, reporter: nil,
            logger: logger, clock: { store.now() }, wallClock: { Date() }, random: RandomBytes())
        routes = RouteTable(AdministrationAPI.paths.map(\.endpoint), settings: settings)
        self.context = context
        self.pages = pages.endpoints
    }

    /// Answers a request whose path is relative to the API; throws a fault, and no refusal.
    package func answer(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: [UInt8] = []
    ) async throws -> AdministrationResponse {
        do {
            return try await perform(method, path, fields, body)
        } catch let refusal as RoleRefusal {
            return AdministrationResponse(ProblemError(refusal).details)
        } catch let refusal as ProblemError {
            return AdministrationResponse(refusal.details)
        } catch is NotFoundError { return AdministrationResponse(ProblemDetails(.notFound)) }
    }

    private func perform(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields, _ body: [UInt8]
    ) async throws -> AdministrationResponse {
        let target = components.settings.issuer.path + AdministrationOperation.prefix + path
        guard let route = routes.route(target.prefix { $0 != "?" }),
            let operation = AdministrationOperation.all.first(where: {
                $0.method == method && AdministrationOperation.prefix + $0.path == route.endpoint.path
            })
        else { throw NotFoundError() }
        let head = HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: fields)
        let request = IncomingRequest(
            head: head, body: body, source: "", id: "command", parameters: route.parameters)
        let call = AdministrationCall(
            request: request, caller: AdministrationCaller(context), components: components,
            now: components.clock(), query: try QueryValues(request.query, allowing: operation.query), pages: pages)
        if operation.isConditional { _ = try call.expectedTag() }
        let answer = try await operation.perform(call)
        return AdministrationResponse(
            status: operation.status, fields: answer.fields, body: answer.body ?? [])
    }
}

extension AdministrationResponse {
    fileprivate init(_ problem: ProblemDetails) {
        self.init(status: problem.status, fields: [:], body: problem.encoded())
    }
}

extension AdministrationOperation {
    /// A member of a body that is refused by its type alone, before a request is sent.
    package struct RefusedMember: Sendable {
        /// The names that lead to the member.
        package let path: [String]
        /// The reason and the remedy.
        package let detail: String

        package init(path: [String], detail: String) {
            self.path = path
            self.detail = detail
        }
    }

    /// Returns the operation with an `operationId`; nil if there is none.
    package static func named(_ id: String) -> AdministrationOperation? { all.first { $0.id == id } }

    /// Returns a text as a segment of a path.
    package static func segment(_ text: String) -> String { AdministrationCall.escaped(text) }

    /// Returns the members of a body that the operation refuses by their names and types.
    package func refusals(of body: [String: JSONValue]) -> [RefusedMember] {
        refusedMembers(body).map { part in
            let names = (part.pointer ?? "").split(separator: "/").map {
                String($0).replacing("~1", with: "/").replacing("~0", with: "~")
            }
            return RefusedMember(path: names, detail: part.detail)
        }
    }
}
