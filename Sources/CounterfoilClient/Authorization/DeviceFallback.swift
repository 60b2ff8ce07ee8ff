import CounterfoilProtocol

extension NativeSignIn {
    /// Signs the user in through the browser, or on another device if this device can open no browser.
    ///
    /// ```swift
    /// let credentials = try await signIn.runWithDeviceFallback { instructions in
    ///     print("Open \(instructions.verificationURI) on another device and enter \(instructions.userCode).")
    /// }
    /// ```
    ///
    /// The function uses the device grant (RFC 8628) in these cases:
    /// - The launcher knows that the user cannot see a browser here, as over SSH (``BrowserLauncher/isOutOfReach``).
    /// - The launcher reports that the browser did not start.
    /// - The client cannot receive a callback at any redirect URI (``SignInError/cannotListen(_:)``).
    ///
    /// If the server does not support the device grant, the function is the same as ``run(onEvent:)``. The user can
    /// then open the URL of ``Event/opening(_:)``. If the browser did not start, the URL of an earlier event can no
    /// longer be used, and ``Event/discovered(_:)`` and ``Event/identified(_:_:)`` occur again for the device grant.
    ///
    /// - Parameters:
    ///   - report: A function that receives the events of both kinds of sign-in.
    ///   - show: A function that shows the URL and the code to the user; see ``DeviceSignIn/run(onEvent:show:)``.
    public func runWithDeviceFallback(
        onEvent report: @escaping @Sendable (Event) -> Void = { _ in },
        show: @escaping @Sendable (DeviceSignIn.Instructions) async -> Void
    ) async throws(SignInError) -> Credentials {
        let device = DeviceSignIn(self)
        guard try await device.configuration().deviceAuthorizationEndpoint != nil else {
            return try await run(onEvent: report)
        }
        if !browser.isOutOfReach, let result = await resultInBrowser(report) { return try result.get() }
        return try await device.run(onEvent: report, show: show)
    }

    private enum Step: Sendable {
        case ended(Result<Credentials, SignInError>)
        case browserFailed
        case watched
    }

    /// Runs the sign-in in the browser; returns nil if no browser can be opened.
    private func resultInBrowser(
        _ report: @escaping @Sendable (Event) -> Void
    ) async -> Result<Credentials, SignInError>? {
        let (failures, failure) = AsyncStream.makeStream(of: Void.self)
        let (result, isFailed) = await withTaskGroup(of: Step.self) { group in
            group.addTask {
                defer { failure.finish() }
                do throws(SignInError) {
                    let credentials = try await run { event in
                        report(event)
                        switch event {
                        case .browser(.failed), .browser(.notAttempted): failure.yield()
                        // The user has opened the URL. The tokens must arrive, whatever becomes of the browser.
                        case .answered: failure.finish()
                        default: break
                        }
                    }
                    return .ended(.success(credentials))
                } catch {
                    return .ended(.failure(error))
                }
            }
            group.addTask {
                for await _ in failures { return .browserFailed }
                return .watched
            }
            var (result, isFailed) = (Result<Credentials, SignInError>.failure(.cancelled), false)
            for await step in group {
                switch step {
                case .ended(let end): result = end
                case .browserFailed:
                    isFailed = true
                    // The user cannot see the page, so nothing will arrive.
                    group.cancelAll()
                case .watched: break
                }
            }
            return (result, isFailed)
        }
        switch result {
        case .failure(.cancelled) where isFailed && !Task.isCancelled: return nil
        case .failure(.cannotListen): return nil
        default: return result
        }
    }
}
