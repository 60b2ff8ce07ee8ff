import CounterfoilClient
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Tests of the trust of the transport: the authorities of the system, and the requested host name.
struct TransportTrustTests {
    /// A server with a self-signed certificate.
    private struct SelfSigned {
        let port: Int
        let program: Process

        static func start(in directory: TemporaryDirectory) async throws -> SelfSigned {
            let (key, certificate) = (directory.file("key.pem"), directory.file("certificate.pem"))
            let making = Process()
            making.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            making.arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key.path,
                "-out", certificate.path,
            ]
            making.standardError = FileHandle.nullDevice
            try making.run()
            making.waitUntilExit()
            try #require(making.terminationStatus == 0)

            let output = Pipe()
            let program = Process()
            program.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            program.arguments = [
                "s_server", "-accept", "127.0.0.1:0", "-cert", certificate.path, "-key", key.path, "-www",
            ]
            (program.standardOutput, program.standardError) = (output, FileHandle.nullDevice)
            try program.run()
            // The server prints its port as soon as it listens.
            var said = ""
            while let bytes = try output.fileHandleForReading.read(upToCount: 1), let byte = bytes.first {
                said.unicodeScalars.append(Unicode.Scalar(byte))
                if byte == UInt8(ascii: "\n"), let end = said.dropLast().split(separator: ":").last,
                    let port = Int(end),
                    said.hasPrefix("ACCEPT")
                {
                    return SelfSigned(port: port, program: program)
                }
                if byte == UInt8(ascii: "\n") { said = "" }
            }
            program.terminate()
            throw CancellationError()
        }
    }

    // R202: TLS is verified; an untrusted certificate ends the exchange before anything is sent.
    @Test func `a certificate that the system does not trust is refused`() async throws {
        let directory = try TemporaryDirectory()
        let server = try await SelfSigned.start(in: directory)
        defer { server.program.terminate() }
        let endpoint = try EndpointURL("https://127.0.0.1:\(server.port)/oauth2/token")
        await #expect {
            try await AsyncHTTPClientTransport().send(
                TransportRequest(endpoint, method: .post, body: Array("code=1".utf8)))
        } throws: { error in
            guard case .untrusted(let origin, _) = error as? TransportFailure else { return false }
            return origin == endpoint.origin
        }
    }
}
