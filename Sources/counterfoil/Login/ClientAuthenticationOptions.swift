import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The options with which a client authenticates: a secret or a private key.
struct ClientAuthenticationOptions: ParsableArguments {
    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp("The file with the client secret: mode 0600.", valueName: "file"))
    var secretFile: String?

    @Option(
        name: .customLong("client-secret-fd"),
        help: ArgumentHelp("Read the client secret from this open file descriptor.", valueName: "number"))
    var secretDescriptor: Int32?

    @Flag(name: .customLong("client-secret-stdin"), help: "Read the client secret from a line of standard input.")
    var secretFromStandardInput = false

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            "The file with the private key for client authentication (private_key_jwt): P-256, Ed25519 or RSA, mode 0600.",
            valueName: "file"))
    var keyFile: String?

    @Option(
        name: .customLong("client-key-id"),
        help: ArgumentHelp("The ID of that key at the server. (default: its thumbprint)", valueName: "id"))
    var keyID: String?

    @Option(
        name: .customLong("client-key-algorithm"),
        help: ArgumentHelp(
            "The signature algorithm of an RSA key, RS256 or PS256, or of an Ed25519 key, EdDSA or Ed25519. (default: RS256, EdDSA)",
            valueName: "algorithm"))
    var keyAlgorithm: String?

    @Option(
        help: ArgumentHelp(
            "The audience of signed client assertions; older servers accept only their token endpoint.",
            valueName: "audience"))
    var assertionAudience: AssertionAudience?

    /// The value of --assertion-audience.
    enum AssertionAudience: String, ExpressibleByArgument, CaseIterable, Codable {
        case issuer
        case tokenEndpoint = "token-endpoint"

        var option: ClientKey.AssertionAudience {
            switch self {
            case .issuer: .issuer
            case .tokenEndpoint: .tokenEndpoint
            }
        }
    }

    func validate() throws {
        guard secretSources <= 1 else {
            throw ValidationError(
                "Pass the secret with one of --client-secret-file, --client-secret-fd and --client-secret-stdin.")
        }
        if keyFile != nil, hasSecret {
            throw ValidationError("A client authenticates with a key or with a secret, not with both.")
        }
        if keyFile == nil, keyID != nil || keyAlgorithm != nil || assertionAudience != nil {
            throw ValidationError(
                "--client-key-id, --client-key-algorithm and --assertion-audience require --client-key.")
        }
    }

    /// Whether one of the options names a client secret.
    var hasSecret: Bool { secretSources > 0 }

    private var secretSources: Int {
        [secretFile != nil, secretDescriptor != nil, secretFromStandardInput].count { $0 }
    }

    /// Reads the key; nil if no option names one.
    func key() throws(Failure) -> ClientKey? {
        guard let keyFile else { return nil }
        do {
            var key = try ClientKey(
                contentsOf: URL(fileURLWithPath: keyFile), id: keyID,
                algorithm: keyAlgorithm.map { ClientKey.Algorithm(rawValue: $0) })
            key.assertionAudience = assertionAudience?.option
            return key
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }

    /// Reads the secret; nil if no option names one.
    func secret() throws(Failure) -> ClientSecret? {
        let text: String
        if let secretFile {
            text = try Self.secret(inFile: secretFile)
        } else if let secretDescriptor {
            text = try Self.secret(from: secretDescriptor)
        } else if secretFromStandardInput {
            text = readLine(strippingNewline: true) ?? ""
        } else {
            return nil
        }
        guard let secret = ClientSecret(text.trimmingWhitespace()) else {
            throw Failure(.usage, "the client secret is empty or contains invalid characters")
        }
        return secret
    }

    /// Reads a file that the user owns, that has mode 0600, and that is not a symbolic link.
    private static func secret(inFile path: String) throws(Failure) -> String {
        do {
            guard let bytes = try PrivateFile(path: path).read() else {
                throw Failure(.usage, "cannot read the client secret: the file \(path) does not exist")
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch let failure as Failure {
            throw failure
        } catch TokenStoreError.notPrivate(let path, let reason) {
            throw Failure(
                .usage,
                "the client secret is not private: \(path) \(reason); or pass it with --client-secret-fd")
        } catch TokenStoreError.failed(let path, let reason) {
            throw Failure(.usage, "cannot read the client secret \(path): \(reason)")
        } catch {
            throw Failure(.usage, "cannot read the client secret: \(error)")
        }
    }

    /// Reads an open descriptor to its end, at most 4 KiB.
    private static func secret(from descriptor: Int32) throws(Failure) -> String {
        try Failure.usage("cannot read the client secret from descriptor \(descriptor): ") {
            String(decoding: try systemReadAll(descriptor, limit: 4097), as: UTF8.self)
        }
    }

    /// Chooses the client authentication at a server from the options and the vendor profile.
    ///
    /// Some vendors require a client secret, but not in the device flow. Therefore a missing secret is no error if
    /// `requiresSecret` is false. At a host that is not the vendor's, the metadata of the server list the methods.
    func authentication(at vendor: VendorServer?, requiresSecret: Bool) throws(Failure) -> ClientAuthentication {
        if let key = try key() { return .privateKey(key) }
        let profile = vendor.flatMap { $0.isVendorsOwn ? $0.profile : nil }
        let method = profile?.authentication
        let title = profile?.title ?? "this server"
        guard let secret = try secret() else {
            guard let method, method != .none, requiresSecret else { return .none }
            throw Failure(
                .usage,
                "\(title) requires the client secret; pass it with --client-secret-file or --client-secret-stdin")
        }
        switch method {
        case .secretPost: return .secretPost(secret)
        case .secretBasic: return .secretBasic(secret)
        case nil: return .secret(secret)
        case .some(.none): throw Failure(.usage, "\(title) accepts no client secret; omit it")
        }
    }
}
