import Foundation

/// A certificate authority of a test, whose files `openssl` makes.
package final class TLSAuthority: Sendable {
    private let directory: TemporaryDirectory

    /// The file with the certificate of the authority, for `SSL_CERT_FILE`.
    package var certificate: String { directory.file("authority.pem").path }
    /// The folder with the certificate of the authority and nothing else, for `SSL_CERT_DIR`.
    package var folder: String { directory.file("authorities").path }

    /// Makes the certificate of the authority.
    package init() throws {
        directory = try TemporaryDirectory()
        try Self.openssl(
            [
                "req", "-x509", "-days", "2", "-subj", "/CN=Test Authority", "-keyout", "authority.key", "-out",
                "authority.pem",
            ] + Self.newKey, in: directory.url)
        try FileManager.default.createDirectory(at: directory.file("authorities"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            at: directory.file("authority.pem"), to: directory.file("authorities/authority.crt"))
    }

    /// Starts a server with a certificate for some names, which answers requests until `body` returns.
    ///
    /// The server answers each request with 200, or with `sendsFiles` as ``answer(_:named:)`` says.
    package func run(
        names: String = "DNS:localhost,IP:127.0.0.1", days: Int = 2, sendsFiles: Bool = false,
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        try Self.openssl(
            [
                "req", "-subj", "/CN=Test Server", "-addext", "subjectAltName=\(names)", "-keyout", "server.key",
                "-out",
                "server.csr",
            ] + Self.newKey, in: directory.url)
        try Self.openssl(
            [
                "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial",
                "-days", "\(days)", "-copy_extensions", "copyall", "-out", "server.pem",
            ], in: directory.url)
        let (program, output) = (Process(), Pipe())
        program.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        program.arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server.key",
            sendsFiles ? "-HTTP" : "-www",
        ]
        program.currentDirectoryURL = directory.url
        (program.standardOutput, program.standardError) = (output, FileHandle.nullDevice)
        try program.run()
        defer { kill(program.processIdentifier, SIGKILL) }
        try await body(try Self.port(in: output))
    }

    /// Sets the whole HTTP response to requests for a name in the root folder.
    package func answer(_ response: String, named name: String) throws {
        try Data(response.utf8).write(to: directory.file(name))
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private static func openssl(_ arguments: [String], in directory: URL) throws {
        let making = Process()
        making.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        making.arguments = arguments
        making.currentDirectoryURL = directory
        making.standardError = FileHandle.nullDevice
        try making.run()
        making.waitUntilExit()
        guard making.terminationStatus == 0 else { throw OpenSSLFailure(arguments: arguments) }
    }

    private struct OpenSSLFailure: Error {
        let arguments: [String]
    }

    /// Reads the port that the server prints as soon as it listens.
    private static func port(in output: Pipe) throws -> Int {
        var line = ""
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            guard byte == UInt8(ascii: "\n") else {
                line.unicodeScalars.append(Unicode.Scalar(byte))
                continue
            }
            if line.hasPrefix("ACCEPT"), let port = line.split(separator: ":").last.flatMap({ Int($0) }) { return port }
            line = ""
        }
        throw CancellationError()
    }
}
