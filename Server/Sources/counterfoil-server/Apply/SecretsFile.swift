import Foundation

/// The file for the secrets of new apps and APIs: one JSON object on each line.
struct SecretsFile {
    private struct Line: Encodable {
        let client_id: String
        let client_secret: String
        let resource: String?
    }

    private let handle: FileHandle
    private let path: String

    /// Creates the file, which only its owner can access; a file that exists is refused.
    init(at path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .refused("--secrets-file: cannot create the file \(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.path = path
    }

    /// Appends a secret.
    func append(_ secret: String, of clientID: String, _ resource: String?) throws {
        let line = try Output.encoded(Line(client_id: clientID, client_secret: secret, resource: resource))
        do { try handle.write(contentsOf: line + Data("\n".utf8)) } catch {
            throw CommandFailure.refused(
                "--secrets-file: cannot write \(path), so the secret of \(clientID) is lost; it was created")
        }
    }
}
