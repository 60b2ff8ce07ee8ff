import CounterfoilConsole
import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// The operations of the administration API on the store of this machine.
struct LocalTransport: AdministrationTransport {
    private let installation: Installation
    private let operations: LocalAdministration

    init(_ installation: Installation) async throws {
        self.installation = installation
        // Before the first start of a server, the issuer is in no rule, and in no answer that a command reads.
        var settings =
            try installation.recorded.ofMetadata
            ?? ServerSettings(issuer: installation.issuer ?? Issuer("https://issuer.invalid"))
        settings.callbackOrigin = installation.callbackOrigin
        settings.plainSchemes = installation.plainSchemes
        settings.allowsDevelopmentRedirectURIs = installation.allowsDevelopmentRedirectURIs
        settings.accessTokenLifetime = installation.recorded.accessTokenLifetime ?? settings.accessTokenLifetime
        settings.idTokenLifetime = installation.recorded.idTokenLifetime ?? settings.idTokenLifetime
        let rules = ClientRules(
            issuer: installation.issuer, callbackOrigin: installation.callbackOrigin,
            plainSchemes: installation.plainSchemes,
            allowsDevelopment: installation.allowsDevelopmentRedirectURIs, formats: .standard)
        operations = try await LocalAdministration(
            on: installation.store, serverKey: installation.serverKey, settings: settings, pages: .console,
            context: CommandContext(
                rules: rules, notices: installation.mails, sendsMail: installation.recorded.sendsMail == true),
            logger: Logger(label: "counterfoil") { _ in SwiftLogNoOpLogHandler() })
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields, body: [UInt8]
    ) async throws -> AdministrationResponse {
        do {
            return try await operations.answer(method, path, fields: fields, body: body)
        } catch let fault as StoreFault { throw CommandFailure(fault) }
    }

    func userID(named username: Username) async throws -> String? {
        try await installation.store.userID(named: username)?.rawValue
    }

    func finishRemovals() async throws { try await installation.finishRemovals() }
}
