import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport

/// A server that replaces another system: behind TLS, with the paths and client identifiers that installed
/// clients use.
struct MovedSite: Sendable {
    let site: Site
    let front: TLSFront
    /// The issuer, as the clients know it.
    let issuer: String

    /// Runs `body` with a server that has the user Alice and the registrations of `prepare`.
    ///
    /// - Parameters:
    ///   - path: The path of the issuer.
    ///   - aliases: Additional paths of endpoints.
    static func run(
        path: String = "", aliases: [String] = [], prepare: @escaping @Sendable (Site) async throws -> Void,
        _ body: @escaping @Sendable (MovedSite) async throws -> Void
    ) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await prepare(site)
            try await TLSFront.run(to: site.port, in: site.folder) { front in
                let issuer = "https://\(front.host)\(path)"
                let server = try await site.start(
                    issuer: issuer, options: aliases.flatMap { ["--endpoint-alias", $0] })
                try await server.whileRunning {
                    try await body(MovedSite(site: site, front: front, issuer: issuer))
                }
            }
        }
    }

    /// Returns a computer of a user who trusts the certificate authority of the server.
    func device() throws -> Device {
        var device = try Device(in: site.folder)
        device.certificateAuthorities = front.authority
        return device
    }

    /// Signs in with `counterfoil login --vendor` as Alice, who allows the request.
    func signIn(_ device: Device, vendor: String, clientID: String, _ options: [String] = []) async throws
        -> EndedProgram
    {
        let login = try device.begin(
            ["login", front.host, "--vendor", vendor, "--client-id", clientID, "--timeout", "60"] + options)
        return try await login.whileRunning {
            var browser = UserAgent(verifiesCertificates: false)
            _ = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
            return try await login.ended()
        }
    }

    /// Opens an authorization request of a guide as Alice, who allows it, and returns the parameters of the
    /// response.
    func authorize(_ path: String, _ parameters: FormParameters) async throws -> FormParameters {
        var browser = UserAgent(verifiesCertificates: false)
        return try await Account.alice.answer("allow", at: "\(issuer)\(path)?\(parameters.encoded)", in: &browser)
            .answer
    }

    /// Sends a token request of a guide, with the `Accept` field that FotoWare requires.
    func post(_ path: String, _ form: FormParameters) async throws -> WebPage {
        var agent = UserAgent(verifiesCertificates: false)
        return try await agent.send(.post, issuer + path, headers: ["accept": "application/json"], form: form)
    }
}

extension WebPage {
    /// The members of a JSON body.
    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:] }
    }
}

extension FormParameters {
    /// Returns the parameters and one more.
    func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}
