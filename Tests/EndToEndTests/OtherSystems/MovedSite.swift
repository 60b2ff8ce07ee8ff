import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A server of ours in the place of another system: behind TLS, with the paths and the client identifiers that are in the field.
struct MovedSite: Sendable {
    let site: Site
    let front: TLSFront
    /// The URL of the server, as its clients know it.
    let issuer: String

    /// Makes a server that runs for the time of `body`, with Alice and what `prepare` registers.
    ///
    /// - Parameters:
    ///   - path: The path of the issuer.
    ///   - aliases: Second paths of endpoints.
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

    /// A computer of a user who trusts the certificate authority of the server.
    func device() throws -> Device {
        var device = try Device(in: site.folder)
        device.certificateAuthorities = front.authority
        return device
    }

    /// Signs in with `counterfoil login --vendor`, as Alice, who allows everything.
    func signIn(_ device: Device, vendor: String, clientID: String, _ options: [String] = []) async throws
        -> EndedProgram
    {
        let login = try device.begin(
            ["login", front.host, "--vendor", vendor, "--client-id", clientID, "--timeout", "60"] + options)
        return try await login.whileRunning {
            var browser = UserAgent(verifiesCertificates: false)
            _ = try await Person.alice.allow(try await device.openedAddress(), in: &browser)
            return try await login.ended()
        }
    }

    /// Opens an authorization request of a document, as Alice, who allows everything; the parameters of the answer.
    func authorize(_ path: String, _ parameters: FormParameters) async throws -> FormParameters {
        var browser = UserAgent(verifiesCertificates: false)
        return try await Person.alice.answer("allow", at: "\(issuer)\(path)?\(parameters.encoded)", in: &browser).answer
    }

    /// Sends a token request of a document, with the `Accept` field that FotoWare asks for.
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
    /// The parameters with one more.
    func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}
