"""Cases of `scipy.signal`."""

import numpy as np
from scipy import signal

from tests.packages.suite import Package

PACKAGE = Package("scipy.signal")
works = PACKAGE.works

X = np.sin(0.37 * np.arange(40.0) ** 1.1)
KERNEL = np.array([0.5, 1.0, -0.25])
B = np.array([0.2, 0.3, 0.1])
A = np.array([1.0, -0.4, 0.2])
SOS = signal.butter(4, 0.2, output="sos")
GAIN = np.array([2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
IMAGE = np.cos(np.arange(48.0).reshape(6, 8) ** 1.2)
TIMES = np.linspace(0.0, 5.0, 30)

works("convolve", signal.convolve, X, KERNEL)
works("convolve(mode='same')", lambda x, k: signal.convolve(x, k, mode="same"), X, KERNEL)
works("fftconvolve", signal.fftconvolve, X, KERNEL)
works("oaconvolve", signal.oaconvolve, X, KERNEL)
works("correlate", signal.correlate, X, KERNEL)
works("convolve2d", signal.convolve2d, IMAGE, IMAGE[:2, :3])
works("correlate2d", signal.correlate2d, IMAGE, IMAGE[:2, :3])
works("lfilter", lambda b, a, x: signal.lfilter(b, a, x), B, A, X)
works("filtfilt", lambda b, a, x: signal.filtfilt(b, a, x), B, A, X)
works("sosfilt", lambda x: signal.sosfilt(SOS, x), X)
works("sosfiltfilt", lambda x: signal.sosfiltfilt(SOS, x), X)
works("lfilter_zi", signal.lfilter_zi, B, A)
works("deconvolve", lambda s, d: signal.deconvolve(s, d)[0], X[:8], np.array([1.0, 0.4, 0.1]))
works("savgol_filter", lambda x: signal.savgol_filter(x, 7, 2), X)
works("detrend", signal.detrend, X)
works("detrend(type='constant')", lambda x: signal.detrend(x, type="constant"), X)
works("hilbert", signal.hilbert, X)
works("resample", lambda x: signal.resample(x, 25), X)
works("resample_poly", lambda x: signal.resample_poly(x, 3, 2), X)
works("upfirdn", lambda h, x: signal.upfirdn(h, x, 2, 3), KERNEL, X)
works("decimate", lambda x: signal.decimate(x, 2), X)
works("wiener", lambda x: signal.wiener(x, 5), X)
works("medfilt", lambda x: signal.medfilt(x, 5), X[1:])
works("welch", lambda x: signal.welch(x, nperseg=16)[1], X)
works("periodogram", lambda x: signal.periodogram(x)[1], X)
works("csd", lambda x, y: signal.csd(x, y, nperseg=16)[1], X, X[::-1].copy())
works("coherence", lambda x, y: signal.coherence(x, y, nperseg=10)[1], X, X[::-1].copy())
works("spectrogram", lambda x: signal.spectrogram(x, nperseg=16)[2], X)
works("stft", lambda x: signal.stft(x, nperseg=16)[2], X)
works("ShortTimeFFT.stft", lambda x: signal.ShortTimeFFT(np.hanning(9), 4, 1.0).stft(x), X)
works("lombscargle", lambda x: signal.lombscargle(TIMES, x, np.array([0.7, 1.9])), X[:30])
works("freqz", lambda b, a: signal.freqz(b, a, worN=16)[1], B, A)
works("freqz_sos", lambda k: signal.freqz_sos(SOS * GAIN**k, worN=8)[1], 1.0)
works("group_delay", lambda b, a: signal.group_delay((b, a), w=8)[1], B, A)
works("butter", lambda w: signal.butter(3, w), 0.3)
works("cheby1", lambda w: signal.cheby1(3, 0.5, w), 0.3)
works("bilinear", lambda b, a: signal.bilinear(b, a), B, A)
works("tf2ss", lambda b, a: signal.tf2ss(b, a), B, A)
works("ss2tf", lambda a: signal.ss2tf(a, np.eye(2), np.eye(2), np.zeros((2, 2))), IMAGE[:2, :2])
works(
    "cont2discrete",
    lambda a: signal.cont2discrete((a, np.eye(2), np.eye(2), 0.0), 0.1)[0],
    IMAGE[:2, :2],
)
works(
    "dlsim",
    lambda a: signal.dlsim((a, np.eye(2), np.eye(2), np.zeros((2, 2)), 0.1), IMAGE[:, :2])[1],
    IMAGE[:2, :2],
)
works(
    "lsim",
    lambda a, u: signal.lsim((a, np.eye(2)[:, :1], np.eye(2), np.zeros((2, 1))), u, TIMES)[1],
    IMAGE[:2, :2],
    X[:30],
)
works("step", lambda a: signal.step((np.array([1.0]), a), T=TIMES)[1], np.array([1.0, 0.5, 2.0]))
works(
    "impulse", lambda a: signal.impulse((np.array([1.0]), a), T=TIMES)[1], np.array([1.0, 0.5, 2.0])
)
works(
    "bode",
    lambda a: signal.bode((np.array([1.0]), a), w=np.array([0.1, 1.0, 3.0]))[1:],
    np.array([1.0, 0.5, 2.0]),
)
works("firwin", lambda w: signal.firwin(7, w), 0.3)
works("windows.gaussian", lambda s: signal.windows.gaussian(9, s), 2.3)
works("windows.kaiser", lambda b: signal.windows.kaiser(9, b), 2.3)
works("windows.tukey", lambda a: signal.windows.tukey(11, a), 0.43)
works("chirp", lambda t, f0, f1: signal.chirp(t, f0, 5.0, f1), TIMES, 0.2, 1.3)
works("gausspulse", lambda t: signal.gausspulse(t, fc=0.7), TIMES)
works("sawtooth", lambda t: signal.sawtooth(t + 0.3), TIMES)
works("cspline1d", lambda x: signal.cspline1d(x), X)
works("peak_prominences of positions", lambda x: x[signal.find_peaks(x)[0]], X)
works("max_len_seq times x", lambda x: signal.max_len_seq(4)[0] * x[:15], X)
works("czt", lambda x: signal.czt(x, 12), X)
works("zoom_fft", lambda x: signal.zoom_fft(x, [0.1, 0.4], 12), X)
works(
    "minimum_phase",
    lambda h: signal.minimum_phase(h, method="homomorphic"),
    np.array([1.0, 2.5, 1.2, 0.4, 0.1]),
)
works("tf2zpk gain", lambda b, a: signal.tf2zpk(b, a)[2], B, A)
works(
    "place_poles",
    lambda a: signal.place_poles(a, np.eye(2), np.array([-1.0, -2.0])).gain_matrix,
    IMAGE[:2, :2],
)
