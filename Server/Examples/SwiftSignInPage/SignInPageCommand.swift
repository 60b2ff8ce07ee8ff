// A sign-in page without a session: it asks for the password each time.
//
// Usage: sign-in-page ISSUER PAGE FOLDER, such as
//     sign-in-page https://id.example.com http://localhost:5000/login .
//
// The password of every user is in the environment variable PAGE_PASSWORD. The folder gets the key of the page, and
// keys.json with its public half.
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

private struct Usage: Error {}

private struct Typed: Decodable {
    let request, username, password: String
}

/// Returns the key in a folder, or creates one.
private func key(in folder: String) throws -> SigningKey {
    let (path, keys) = (URL(fileURLWithPath: "\(folder)/page.key"), URL(fileURLWithPath: "\(folder)/keys.json"))
    if let stored = try? Data(contentsOf: path) {
        return try SigningKey(algorithm: .es256, privateRepresentation: stored)
    }
    let key = try SigningKey.generate(.es256)
    try Data(key.privateRepresentation).write(to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
    try Data(JSONWebKeySet(keys: [key.publicKey]).encoded()).write(to: keys)
    return key
}

private func form(_ request: String, _ problem: String = "") -> Response {
    // A verified request has letters, digits, hyphens, underscores and periods only.
    let html = """
        <!doctype html><html lang="en"><title>Shop</title><h1>Sign in to the shop</h1><p>\(problem)</p>
        <form method="post"><input type="hidden" name="request" value="\(request)">
        <p><label>User name <input name="username" autocomplete="username" required></label>
        <p><label>Password <input name="password" type="password" autocomplete="current-password" required></label>
        <button>Sign in</button></form>
        """
    return Response(
        status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
}

@main
private enum SignInPageCommand {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let address = try? AbsoluteURI(parsing: arguments[2]), let host = address.host,
            let port = address.port,
            let password = ProcessInfo.processInfo.environment["PAGE_PASSWORD"], !password.isEmpty
        else { throw Usage() }
        let page = SignInPage(
            issuer: try Issuer(arguments[1]), address: address, key: try key(in: arguments[3]))
        let router = Router()
        router.get(RouterPath(address.path)) { request, _ in
            let text = request.uri.queryParameters.get("request") ?? ""
            guard (try? await page.verified(text)) != nil else { throw HTTPError(.badRequest) }
            return form(text)
        }
        router.post(RouterPath(address.path)) { request, _ in
            let body = String(buffer: try await request.body.collect(upTo: 32 * 1024))
            guard let typed = try? URLEncodedFormDecoder().decode(Typed.self, from: body),
                let asked = try? await page.verified(typed.request)
            else { throw HTTPError(.badRequest) }
            guard typed.password == password else { return form(typed.request, "Wrong user name or password.") }
            let answer = try page.answer(to: asked, for: typed.username, since: Date())
            return Response(status: .seeOther, headers: [.location: answer])
        }
        try await Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname(host, port: port))
        ).runService()
    }
}
